import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { generateGatewayKey } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { assertError, rateHeadersOf, useBench } from '../testing/bench.ts';
import { addRoute, issueKey, moneyOf } from '../testing/test-gateway.ts';

const AUTHENTICATION = 'authentication_error';
const INVALID = 'invalid_request_error';
const NO_RATE = { limit: null, remaining: null, reset: null };
const NOTHING_USED = {
  promptTokens: null,
  tokensGenerated: 0,
  totalTokens: 0,
  tokensEstimated: false,
  costMicroPkr: 0n,
  terminationReason: 'success' as const,
  isHeld: false,
  ttftMs: null,
  tpotMs: null,
  upstreamModel: null,
};
// Refused when it was known where it would have gone.
const ROUTED = { upstreamModel: 'upstream-model' };

const bench = await useBench();

describe('refusals of POST /v1/chat/completions', () => {
  before(async () => {
    const { database, provider } = bench;
    await addRoute(database, { id: 'mock/inactive', baseUrl: provider.baseUrl, isActive: false });
    await addRoute(database, { id: 'mock/embeddings', baseUrl: provider.baseUrl, endpoints: ['embeddings'] });
    const flags = { surfaces: { embeddings: '/embeddings' } };
    await addRoute(database, { id: 'mock/vectors', baseUrl: provider.baseUrl, endpoints: ['chat'], flags });
    await addRoute(database, { id: 'mock/keyless', baseUrl: provider.baseUrl, apiKeyEnv: 'UNSET_API_KEY' });
    await addRoute(database, { id: 'mock/nowhere', baseUrl: null });
    await addRoute(database, { id: 'mock/file', baseUrl: 'file:///etc/passwd' });
  });

  // Nothing that is refused here may reach a provider or leave credit set aside.
  const refused = async (work: () => Promise<void>) => {
    const asked = bench.provider.asked.length;
    await work();
    assert.equal(bench.provider.asked.length, asked);
    const { keyHeld, holds } = await moneyOf(bench.database, bench.key.id);
    assert.deepEqual({ keyHeld, holds }, { keyHeld: 0n, holds: 0n });
  };
  // A request without a key that is known leaves no record.
  const unrecorded = async (headers: Record<string, string>) => {
    const records = bench.gateway.journal.records.length;
    const response = await bench.gateway.fetch('/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: '{"model":"mock/model","messages":[{"role":"user","content":"Hi"}]}',
    });
    await assertError(response, { status: 401, code: 'invalid_api_key', type: AUTHENTICATION });
    assert.equal(response.headers.get('www-authenticate'), 'Bearer');
    assert.equal(response.headers.get('x-should-retry'), 'false');
    assert.deepEqual(rateHeadersOf(response), NO_RATE);
    assert.equal(bench.gateway.journal.records.length, records);
  };

  it('401 without a key', () => refused(() => unrecorded({})));
  it('401 with an empty key', () => refused(() => unrecorded({ authorization: 'Bearer ' })));
  it('401 with another scheme', () =>
    refused(() => unrecorded({ authorization: `Basic ${bench.key.secret}` })));
  it('401 with a malformed key', () => refused(() => unrecorded({ authorization: 'Bearer sk-123' })));
  it('401 with a key and something behind it', () =>
    refused(() => unrecorded({ authorization: `Bearer ${bench.key.secret} x` })));
  it('401 with two keys in one header', () =>
    refused(() => unrecorded({ 'x-api-key': `${bench.key.secret}, ${bench.key.secret}` })));
  it('401 with a well-formed key that nobody has', () =>
    refused(() => unrecorded({ authorization: `Bearer ${generateGatewayKey(randomBytes)}` })));
  it('401 with a bearer token that is no key, whatever x-api-key says', () =>
    refused(() => unrecorded({ authorization: 'Bearer x', 'x-api-key': bench.key.secret })));

  it('401 with two good keys that differ, in authorization and x-api-key', () =>
    refused(async () => {
      const other = await issueKey(bench.database, {});
      await unrecorded({ authorization: `Bearer ${bench.key.secret}`, 'x-api-key': other.secret });
    }));

  it('401 with a mistyped key, without a look-up', () =>
    refused(async () => {
      const last = bench.key.secret.endsWith('A') ? 'B' : 'A';
      await unrecorded({ 'x-api-key': bench.key.secret.slice(0, -1) + last });
    }));

  it('401 from the request after the key was revoked', () =>
    refused(async () => {
      const key = await issueKey(bench.database, { allowedModels: ['another'] });
      assert.equal((await bench.gateway.chat(key.secret)).status, 403);
      await runSql(bench.database)`UPDATE api_keys SET revoked_at = clock_timestamp() WHERE id = ${key.id}`;
      await unrecorded({ authorization: `Bearer ${key.secret}` });
    }));

  it('401 key_expired with an expired key, recorded with what is known', () =>
    refused(async () => {
      const key = await issueKey(bench.database, { expiresIn: '-1 microsecond', rateLimitRpm: 7 });
      const response = await bench.gateway.chat(key.secret, {}, { headers: { 'user-agent': 'test/1' } });
      await assertError(response, { status: 401, code: 'key_expired', type: AUTHENTICATION });
      assert.deepEqual(rateHeadersOf(response), { limit: '7', remaining: '7', reset: '0s' });
      await bench.assertRecord(response, {
        ...NOTHING_USED,
        organizationId: key.organizationId,
        keyId: key.id,
        projectId: key.projectId,
        status: 401,
        refusal: 'key_expired',
        model: '',
        userAgent: 'test/1',
      });
    }));

  for (const [title, secret] of [
    ['as a bearer token', (key: string) => ({ authorization: `bearer  ${key}` })],
    ['as x-api-key', (key: string) => ({ 'x-api-key': key })],
    ['as both', (key: string) => ({ authorization: `Bearer ${key}`, 'x-api-key': key })],
  ] as const) {
    it(`404 and not 401 for a good key sent ${title}`, () =>
      refused(async () => {
        const response = await bench.gateway.fetch('/v1/chat/completions', {
          method: 'POST',
          headers: secret(bench.key.secret),
          body: '{"model":"none","messages":[{}]}',
        });
        await assertError(response, {
          status: 404,
          code: 'model_not_found',
          type: INVALID,
          param: 'model',
        });
      }));
  }

  it('403 model_not_allowed for a model outside the list of the key', () =>
    refused(async () => {
      const key = await issueKey(bench.database, { allowedModels: ['mock/other', 'gpt-x'] });
      for (const model of [
        'mock/model',
        'gpt-x ',
        'GPT-X',
        'gpt-x\u200b',
        'gpt',
        'gpt-x\u0000',
        '__proto__',
      ]) {
        const response = await bench.gateway.chat(key.secret, { model });
        const refusal = { status: 403, code: 'model_not_allowed', type: 'permission_error', param: 'model' };
        await assertError(response, refusal);
        await bench.assertRecord(response, {
          ...NOTHING_USED,
          ...(model === 'mock/model' && ROUTED),
          status: 403,
          refusal: 'model_not_allowed',
          model: model.replace('\u0000', '\ufffd'),
        });
      }
    }));

  for (const [title, model] of [
    ['unknown', 'mock/unknown'],
    ['inactive', 'mock/inactive'],
    ['of another endpoint', 'mock/embeddings'],
    ['in other letters', 'MOCK/MODEL'],
    ['with a blank', 'mock/model '],
    ['with a blank that does not show', 'mock/model\u200b'],
    ['with U+0000', 'mock/model\u0000'],
    ['with half a character', 'mock/model\ud800'],
    ['with wildcards', 'mock/%'],
    ['as long as a book', 'm'.repeat(500_000)],
  ] as const) {
    it(`404 model_not_found for a model ${title}`, () =>
      refused(async () => {
        const response = await bench.gateway.chat(bench.key.secret, { model, stream: true });
        const refusal = { status: 404, code: 'model_not_found', type: INVALID, param: 'model' };
        assert.ok((await assertError(response, refusal)).length < 400);
        const record = await bench.assertRecord(response, {
          ...NOTHING_USED,
          ...(model === 'mock/embeddings' && ROUTED),
          ...{ status: 404, isStream: true },
        });
        assert.ok(
          record.model.length <= 256 && record.model.isWellFormed() && !record.model.includes('\u0000'),
        );
      }));
  }

  it('400 for a model whose provider has nothing that the endpoint can be translated to', () =>
    refused(async () => {
      const response = await bench.gateway.chat(bench.key.secret, { model: 'mock/vectors' });
      const refusal = { status: 400, code: 'invalid_request', type: INVALID, param: 'model' };
      assert.match(
        await assertError(response, refusal),
        /^The provider of the model mock\/vectors has only embeddings, which cannot serve this endpoint\.$/,
      );
      assert.equal((await bench.recordOf(response)).refusal, 'invalid_request');
    }));

  it("503 that names the variable when the provider's key is not set, with nothing billed", () =>
    refused(async () => {
      const response = await bench.gateway.chat(bench.key.secret, { model: 'mock/keyless' });
      const refusal = { status: 503, code: 'upstream_not_configured', type: 'upstream_error' };
      assert.match(await assertError(response, refusal), /UNSET_API_KEY/);
      assert.equal(response.headers.get('x-should-retry'), 'false');
      await bench.assertRecord(response, {
        ...NOTHING_USED,
        ...ROUTED,
        status: 503,
        refusal: 'upstream_not_configured',
      });
    }));

  for (const model of ['mock/nowhere', 'mock/file']) {
    it(`503 when the provider has no usable address: ${model}`, () =>
      refused(async () => {
        const response = await bench.gateway.chat(bench.key.secret, { model });
        const refusal = { status: 503, code: 'upstream_not_configured', type: 'upstream_error' };
        await assertError(response, refusal);
      }));
  }

  it('429 past the rate, with when to come back, and 200 again once it is time', async () => {
    const key = await issueKey(bench.database, { rateLimitRpm: 2 });
    const first = await bench.gateway.chat(key.secret);
    assert.equal(first.status, 200);
    assert.deepEqual(rateHeadersOf(first), { limit: '2', remaining: '1', reset: '60s' });
    bench.gateway.time.advance(20_500);
    assert.deepEqual(rateHeadersOf(await bench.gateway.chat(key.secret)), {
      limit: '2',
      remaining: '0',
      reset: '60s',
    });
    const response = await bench.gateway.chat(key.secret);
    await assertError(response, { status: 429, code: 'rate_limit_exceeded', type: 'rate_limit_error' });
    assert.equal(response.headers.get('retry-after'), '40');
    assert.deepEqual(rateHeadersOf(response), { limit: '2', remaining: '0', reset: '60s' });
    await bench.assertRecord(response, {
      ...NOTHING_USED,
      status: 429,
      refusal: 'rate_limit_exceeded',
      // It was refused before its body was read.
      model: '',
    });
    bench.gateway.time.advance(39_500);
    assert.equal((await bench.gateway.chat(key.secret)).status, 200);
    assert.equal((await bench.gateway.chat(key.secret)).status, 429);
  });

  it('429 holds a limit that was lowered, from the next request', async () => {
    const key = await issueKey(bench.database, { rateLimitRpm: 100 });
    assert.equal((await bench.gateway.chat(key.secret)).status, 200);
    await runSql(bench.database)`UPDATE api_keys SET rate_limit_rpm = 1 WHERE id = ${key.id}`;
    assert.equal((await bench.gateway.chat(key.secret)).status, 429);
  });

  it('402 key_credit_exhausted when the worst case exceeds the credit of the key', () =>
    refused(async () => {
      // 'Hi' and its frame are 8 tokens: 8 * 70 + 1000 * 560 micro-PKR.
      const key = await issueKey(bench.database, { creditLimitMicroPkr: 560_559n });
      const response = await bench.gateway.chat(key.secret);
      const refusal = { status: 402, code: 'key_credit_exhausted', type: 'insufficient_quota' };
      const message = await assertError(response, refusal);
      assert.match(
        message,
        /limit is 0\.560559 PKR: 0\.00 PKR spent, 0\.00 PKR held .* at least 0\.56056 PKR/,
      );
      assert.equal(response.headers.get('x-should-retry'), 'false');
      await bench.assertRecord(response, {
        ...NOTHING_USED,
        ...ROUTED,
        status: 402,
        refusal: 'key_credit_exhausted',
      });
      assert.deepEqual(await moneyOf(bench.database, key.id), {
        keySpent: 0n,
        keyHeld: 0n,
        balanceHeld: 0n,
        holds: 0n,
      });
      // A shorter answer fits.
      assert.equal((await bench.gateway.chat(key.secret, { max_tokens: 1, n: 2 })).status, 200);
      bench.provider.asked.pop();
    }));

  it('402 budget_exhausted when the organisation has not enough, also for a key without a limit', () =>
    refused(async () => {
      for (const depositedMicroPkr of [0n, 560_559n]) {
        const key = await issueKey(bench.database, { depositedMicroPkr });
        const response = await bench.gateway.chat(key.secret);
        const refusal = { status: 402, code: 'budget_exhausted', type: 'insufficient_quota' };
        assert.match(await assertError(response, refusal), /deposits are .* PKR: .* at least 0\.56056 PKR/);
        assert.equal(response.headers.get('x-should-retry'), 'false');
        await bench.assertRecord(response, {
          ...NOTHING_USED,
          ...ROUTED,
          status: 402,
          refusal: 'budget_exhausted',
        });
      }
    }));
});
