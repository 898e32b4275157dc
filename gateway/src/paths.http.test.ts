import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertRefusal, type Bench, requestIdOf, startBench } from './testing/bench.ts';
import { sse } from './testing/mock-provider.ts';

const INVALID = 'invalid_request_error';

describe('paths and methods', () => {
  let bench: Bench;
  before(async () => {
    bench = await startBench();
  });
  after(() => bench?.[Symbol.asyncDispose]());

  for (const path of [
    '/',
    '/v1',
    '/v1/chat',
    '/v1/chat/completions/',
    '//v1/models',
    '/v1/Models',
    '/metrics',
  ]) {
    it(`404 at ${path}`, async () => {
      const response = await bench.gateway.fetch(path);
      await assertRefusal(response, { status: 404, code: 'not_found', type: INVALID });
    });
  }

  it('200 with the headers that every answer has, be it whole, a stream or about health', async () => {
    bench.provider.script = sse('data: [DONE]\n\n');
    const { gateway, key } = bench;
    const headers = { authorization: `Bearer ${key.secret}` };
    for (const response of [
      await gateway.fetch('/healthz'),
      await gateway.fetch('/readyz'),
      await gateway.fetch('/v1/models', { headers }),
      await gateway.chat(key.secret, { stream: true }),
    ]) {
      assert.equal(response.status, 200);
      await response.text();
      requestIdOf(response);
      for (const [name, value] of Object.entries({
        'cache-control': 'no-store',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'referrer-policy': 'no-referrer',
        'strict-transport-security': 'max-age=31536000; includeSubDomains',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      })) {
        assert.equal(response.headers.get(name), value);
      }
    }
  });

  for (const [method, path, allow] of [
    ['GET', '/v1/chat/completions', 'POST'],
    ['DELETE', '/v1/chat/completions', 'POST'],
    ['POST', '/v1/models', 'GET, HEAD'],
    ['OPTIONS', '/healthz', 'GET, HEAD'],
  ] as const) {
    it(`405 for ${method} ${path}`, async () => {
      const response = await bench.gateway.fetch(path, { method });
      await assertRefusal(response, { status: 405, code: 'method_not_allowed', type: INVALID });
      assert.equal(response.headers.get('allow'), allow);
      assert.ok(!bench.gateway.journal.records.some(({ requestId }) => requestId === requestIdOf(response)));
    });
  }
});
