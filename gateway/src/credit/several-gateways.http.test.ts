import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { rawSql, runSql } from '@gatehouse/store/testing';
import { assertError, useBench } from '../testing/bench.ts';
import { createManualTime } from '../testing/manual-time.ts';
import { completion, json } from '../testing/mock-provider.ts';
import { type IssuedKey, issueKey, startTestGateway, type TestGateway } from '../testing/test-gateway.ts';

const bench = await useBench();

describe('two gateways on one database', () => {
  let other: TestGateway;
  before(async () => {
    bench.provider.script = json(completion('x', { prompt: 1, completion: 1 }));
    other = await startTestGateway(bench.database);
  });
  after(() => other?.[Symbol.asyncDispose]());
  const statuses = async (key: IssuedKey) =>
    Promise.all(
      [bench.gateway, other].map(async (gateway) => {
        const response = await gateway.chat(key.secret, { max_tokens: 10 });
        const body = (await response.json()) as { error?: { code: string } };
        return [response.status, body.error?.code ?? null];
      }),
    );
  const both = (status: number, code: string | null) => [
    [status, code],
    [status, code],
  ];

  // Each change is made after requests that both gateways served, so that something remembered would show.
  for (const [title, change, status, code, back] of [
    ['revoked', 'revoked_at = clock_timestamp()', 401, 'invalid_api_key', undefined],
    ['expired', 'expires_at = clock_timestamp()', 401, 'key_expired', 'expires_at = NULL'],
    [
      'restricted to other models',
      `allowed_models = ARRAY['other']`,
      403,
      'model_not_allowed',
      'allowed_models = NULL',
    ],
    [
      'limited to less than a request can cost',
      'credit_limit_micro_pkr = 1',
      402,
      'key_credit_exhausted',
      'credit_limit_micro_pkr = NULL',
    ],
    ['slowed down', 'rate_limit_rpm = 1', 429, 'rate_limit_exceeded', 'rate_limit_rpm = 1000'],
  ] as const) {
    it(`${status} ${code} on both from the next request when a key is ${title}, and the way back as soon`, async () => {
      const key = await issueKey(bench.database);
      assert.deepEqual(await statuses(key), both(200, null));
      const set = (text: string) =>
        runSql(bench.database)`UPDATE api_keys SET ${rawSql(text)} WHERE id = ${key.id}`;
      await set(change);
      assert.deepEqual(await statuses(key), both(status, code));
      if (back === undefined) return;
      await set(back);
      assert.deepEqual(await statuses(key), both(200, null));
    });
  }

  it('404 model_not_found on both from the next request when a route is switched off, and 200 when on again', async () => {
    const setActive = (isActive: boolean) =>
      runSql(bench.database)`UPDATE routes SET is_active = ${isActive} WHERE id = 'mock/model'`;
    assert.deepEqual(await statuses(bench.key), both(200, null));
    await setActive(false);
    assert.deepEqual(await statuses(bench.key), both(404, 'model_not_found'));
    await setActive(true);
    assert.deepEqual(await statuses(bench.key), both(200, null));
  });

  it('402 on both once a deposit is spent, whichever of them did it', async () => {
    // 8 tokens of prompt and 10 of answer: 6,160 micro-PKR.
    bench.provider.script = json(completion('x', { prompt: 8, completion: 10 }));
    const key = await issueKey(bench.database, { depositedMicroPkr: 3n * 6_160n });
    for (const gateway of [bench.gateway, other, bench.gateway]) {
      const response = await gateway.chat(key.secret, { max_tokens: 10 });
      await response.text();
      assert.equal(response.status, 200);
    }
    assert.deepEqual(await statuses(key), both(402, 'budget_exhausted'));
  });

  for (const [title, skewMs] of [
    ['behind', -300_000],
    ['ahead', 300_000],
  ] as const) {
    it(`401 or 200 by the database's clock on a gateway whose own is five minutes ${title}`, async () => {
      const { clock } = createManualTime();
      const skewed = { ...clock, epochMs: () => Date.now() + skewMs };
      await using gateway = await startTestGateway(bench.database, { clock: skewed });
      const live = await issueKey(bench.database, { expiresIn: '100 seconds' });
      const expired = await issueKey(bench.database, { expiresIn: '-1 second' });
      const answer = await gateway.chat(live.secret);
      await answer.text();
      assert.equal(answer.status, 200);
      await assertError(await gateway.chat(expired.secret), {
        status: 401,
        code: 'key_expired',
        type: 'authentication_error',
      });
    });
  }

  it('503 on one whose clock is months behind: the ledger would not count its requests', async () => {
    const { clock } = createManualTime();
    // Counted from the clock that the other gateways go by, which stands still: the weeks that end up closed by the
    // real one would one day include theirs.
    const now = new Date(clock.epochMs()).toISOString();
    await runSql(bench.owner)`
      UPDATE settlement_horizon SET opened_at = settlement_bound(${now}::timestamptz - interval '300 days'),
                                    closed_before = settlement_bound(${now}::timestamptz - interval '90 days')`;
    const late = { ...clock, epochMs: () => clock.epochMs() - 200 * 24 * 60 * 60_000 };
    await using gateway = await startTestGateway(bench.database, { clock: late });
    const asked = bench.provider.asked.length;
    const response = await gateway.chat(bench.key.secret);
    await assertError(response, { status: 503, code: 'service_unavailable', type: 'server_error' });
    assert.equal(bench.provider.asked.length, asked);
    assert.deepEqual(await statuses(bench.key), both(200, null));
  });
});
