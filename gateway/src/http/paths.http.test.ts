import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError, requestIdOf, useBench } from '../testing/bench.ts';
import { sse } from '../testing/mock-provider.ts';

const INVALID = 'invalid_request_error';

const bench = await useBench();

describe('paths and methods', () => {
  for (const path of ['/v1', '/v1/chat', '/v1/chat/completions/', '//v1/models', '/v1/Models', '/metrics']) {
    it(`404 at ${path}`, async () => {
      const response = await bench.gateway.fetch(path);
      await assertError(response, { status: 404, code: 'not_found', type: INVALID });
    });
  }

  for (const [path, expected] of [
    [
      '/v1/audio/speech',
      /^Not served: POST \/v1\/audio\/speech\. This gateway serves POST \/v1\/chat\/completions, .*GET \/v1\/models, .*GET \/v1\/key\.$/,
    ],
    ['/v1/v1/chat/completions', /Use \/v1\/chat\/completions: the client's base URL must not end in \/v1\./],
    ['/chat/completions', /Use \/v1\/chat\/completions: the client's base URL must end in \/v1\./],
    [`/v1/${'x'.repeat(2_000)}`, /^Not served: POST \/v1\/x{96}…\. This/],
    ['/v1/sk_svc_0123456789abcdefghij', /^Not served: POST \/v1\/sk_svc_01234567…\. This/],
  ] as const) {
    it(`404 at ${path.slice(0, 40)} names what is served`, async () => {
      const response = await bench.gateway.fetch(path, { method: 'POST', body: '{}' });
      assert.equal(response.status, 404);
      const { error } = (await response.json()) as { error: { message: string } };
      assert.match(error.message, expected);
    });
  }

  for (const [path, headers] of [
    ['/v1/messages/batches', {}],
    ['/v1/complete', {}],
    ['/v1/v1/messages', {}],
    ['/messages', {}],
    ['/api/none', { 'anthropic-version': '2023-06-01' }],
    ['/v1/files', { 'anthropic-version': '2023-06-01' }],
  ] as const) {
    it(`404 at ${path} in Anthropic's error format`, async () => {
      const response = await bench.gateway.fetch(path, { method: 'POST', headers, body: '{}' });
      assert.equal(response.status, 404);
      const { error, ...envelope } = (await response.json()) as Record<string, Record<string, unknown>>;
      assert.deepEqual(envelope, { type: 'error', request_id: requestIdOf(response) });
      assert.equal(error?.['type'], 'not_found_error');
      assert.match(String(error?.['message']), /^Not served: POST .* This gateway serves POST/);
    });
  }

  it('200 at / says what is served, and answers HEAD without a body', async () => {
    const response = await bench.gateway.fetch('/');
    assert.equal(response.status, 200);
    assert.match(await response.text(), /base URL at \/v1 .*\n\n {2}POST \/v1\/chat\/completions\n/);
    const head = await bench.gateway.fetch('/', { method: 'HEAD' });
    assert.deepEqual([head.status, await head.text()], [200, '']);
  });

  for (const path of ['/', '/api/hello'])
    it(`200 for HEAD ${path} without a key, a row or a line in the log`, async () => {
      const { gateway } = bench;
      const response = await gateway.fetch(path, {
        method: 'HEAD',
        headers: { authorization: 'Bearer none' },
      });
      assert.deepEqual([response.status, await response.text()], [200, '']);
      const id = requestIdOf(response);
      assert.ok(!gateway.journal.records.some(({ requestId }) => requestId === id));
      const lines = gateway.logged.filter(({ request_id }) => request_id === id);
      assert.deepEqual(
        lines.map(({ level }) => level),
        [20],
      );
    });

  it('200 with the common headers for complete answers, streams and health checks', async () => {
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
      await assertError(response, { status: 405, code: 'method_not_allowed', type: INVALID });
      assert.equal(response.headers.get('allow'), allow);
      assert.ok(!bench.gateway.journal.records.some(({ requestId }) => requestId === requestIdOf(response)));
    });
  }
});
