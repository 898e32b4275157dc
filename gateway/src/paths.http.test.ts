import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertRefusal, type Bench, startBench } from './testing/bench.ts';

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
      assert.equal(bench.gateway.journal.records.length, 0);
    });
  }
});
