import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KeyId } from '@gatehouse/contract';
import { sql, statement } from '@gatehouse/store';
import { assertError, rateHeadersOf, useBench } from '../testing/bench.ts';
import { issueKey } from '../testing/test-gateway.ts';

const bench = await useBench();

const setStanding = statement<{ keyId: KeyId; spent: bigint; held: bigint; unsettled: bigint }>(
  'gateway-test-set-standing',
  sql`
    UPDATE api_keys SET spent_micro_pkr = ${'spent'}, held_micro_pkr = ${'held'}, unsettled_micro_pkr = ${'unsettled'}
    WHERE id = ${'keyId'}`,
);

describe('GET /v1/key', () => {
  const show = (secret: string) =>
    bench.gateway.fetch('/v1/key', { headers: { authorization: `Bearer ${secret}` } });

  it('200 with the limits of the key; what finished requests cost is spent, settled or not', async () => {
    const key = await issueKey(bench.database, {
      creditLimitMicroPkr: 100_000_001n,
      rateLimitRpm: 60,
      expiresIn: '1 day',
      allowedModels: ['mock/model', 'other/model'],
    });
    await bench.owner.run(setStanding, {
      keyId: key.id,
      spent: 10_000_000n,
      held: 7_500_000n,
      unsettled: 2_500_000n,
    });
    const response = await show(key.secret);
    assert.equal(response.status, 200);
    assert.deepEqual(rateHeadersOf(response), { limit: '60', remaining: '59', reset: '60s' });
    const { expires_at, ...document } = (await response.json()) as Record<string, unknown>;
    const untilExpiryMs = Date.parse(String(expires_at)) - Date.now();
    assert.ok(untilExpiryMs > 23 * 3_600_000 && untilExpiryMs <= 24 * 3_600_000);
    assert.deepEqual(document, {
      key_prefix: key.prefix,
      rate_limit_rpm: 60,
      allowed_models: ['mock/model', 'other/model'],
      credit_limit_pkr: 100.000001,
      spent_pkr: 12.5,
      held_pkr: 5,
      remaining_pkr: 82.500001,
      spend_limits: [],
    });
  });

  it('200 with null for what is not limited, and nothing of the organisation', async () => {
    const key = await issueKey(bench.database, { depositedMicroPkr: 5_000_000n });
    assert.deepEqual(await (await show(key.secret)).json(), {
      key_prefix: key.prefix,
      rate_limit_rpm: 1_000,
      expires_at: null,
      allowed_models: null,
      credit_limit_pkr: null,
      spent_pkr: 0,
      held_pkr: 0,
      remaining_pkr: null,
      spend_limits: [],
    });
  });

  it('200 with nothing left where more was billed than the limit', async () => {
    const key = await issueKey(bench.database, { creditLimitMicroPkr: 1_000_000n });
    await bench.owner.run(setStanding, { keyId: key.id, spent: 3_000_000n, held: 0n, unsettled: 0n });
    const { remaining_pkr, spent_pkr } = (await (await show(key.secret)).json()) as Record<string, number>;
    assert.deepEqual([remaining_pkr, spent_pkr], [0, 3]);
  });

  it("429 past the key's rate, 401 for an expired key, and never a row in the log", async () => {
    const limited = await issueKey(bench.database, { rateLimitRpm: 1 });
    assert.equal((await show(limited.secret)).status, 200);
    await assertError(await show(limited.secret), {
      status: 429,
      code: 'rate_limit_exceeded',
      type: 'rate_limit_error',
    });
    const expired = await issueKey(bench.database, { expiresIn: '-1 second' });
    await assertError(await show(expired.secret), {
      status: 401,
      code: 'key_expired',
      type: 'authentication_error',
    });
    assert.equal(bench.gateway.journal.records.length, 0);
  });
});
