import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { assertError, rateHeadersOf, useBench } from '../testing/bench.ts';
import { addRoute, issueKey } from '../testing/test-gateway.ts';

const bench = await useBench();

describe('GET /v1/models', () => {
  before(async () => {
    await addRoute(bench.database, { id: 'a/first' });
    await addRoute(bench.database, { id: 'z/inactive', isActive: false });
    await addRoute(bench.database, { id: 'B/capital' });
    await addRoute(bench.database, { id: 'a-first' });
    await addRoute(bench.database, { id: 'a/echo', protocol: 'demo' });
    await addRoute(bench.database, { id: 'a/claude', protocol: 'anthropic' });
    await addRoute(bench.database, { id: 'a/vectors', endpoints: ['embeddings'] });
    await addRoute(bench.database, { id: 'a/both', endpoints: ['embeddings', 'chat'] });
  });
  const list = async (secret: string) => {
    const response = await bench.gateway.fetch('/v1/models?limit=1', { headers: { 'x-api-key': secret } });
    assert.equal(response.status, 200);
    return (await response.json()) as { object: string; data: Record<string, unknown>[] };
  };

  it("200 with the active models that can be asked here, in OpenAI's form and in the order of their characters", async () => {
    const { object, data } = await list(bench.key.secret);
    assert.equal(object, 'list');
    assert.deepEqual(
      data.map(({ created, ...model }) => {
        assert.ok(Number.isSafeInteger(created));
        return model;
      }),
      ['B/capital', 'a-first', 'a/both', 'a/echo', 'a/first', 'mock/model'].map((id) => ({
        id,
        object: 'model',
        owned_by: `provider of ${id}`,
      })),
    );
  });

  it('200 with only those that the key may use', async () => {
    const key = await issueKey(bench.database, {
      allowedModels: ['mock/model', 'z/inactive', 'a/claude', 'a/vectors', 'none'],
    });
    assert.deepEqual(
      (await list(key.secret)).data.map(({ id }) => id),
      ['mock/model'],
    );
  });

  it("429 past the key's rate, which it shares with the other requests, and never a row in its log", async () => {
    const key = await issueKey(bench.database, { rateLimitRpm: 2 });
    await list(key.secret);
    bench.gateway.time.advance(10_500);
    const second = await bench.gateway.fetch('/v1/models', { headers: { 'x-api-key': key.secret } });
    assert.equal(second.status, 200);
    assert.deepEqual(rateHeadersOf(second), { limit: '2', remaining: '0', reset: '60s' });
    const third = await bench.gateway.fetch('/v1/models', { headers: { 'x-api-key': key.secret } });
    const refusal = { status: 429, code: 'rate_limit_exceeded', type: 'rate_limit_error' };
    await assertError(third, refusal);
    assert.equal(third.headers.get('retry-after'), '50');
    assert.equal(third.headers.get('retry-after-ms'), '49500');
    assert.equal(bench.gateway.journal.records.length, 0);
    await assertError(await bench.gateway.chat(key.secret), refusal);
    bench.gateway.time.advance(49_500);
    await list(key.secret);
  });

  it('401 without a key, and with one that expired', async () => {
    const authentication = { status: 401, type: 'authentication_error' };
    await assertError(await bench.gateway.fetch('/v1/models'), {
      ...authentication,
      code: 'invalid_api_key',
    });
    const { secret } = await issueKey(bench.database, { expiresIn: '-1 second' });
    const response = await bench.gateway.fetch('/v1/models', {
      headers: { authorization: `Bearer ${secret}` },
    });
    await assertError(response, { ...authentication, code: 'key_expired' });
  });
});
