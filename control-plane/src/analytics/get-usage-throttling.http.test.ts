import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { analytics, keys } from '@gatehouse/contract';
import { DAY, NOW, SECOND, signUpWithKey, startAnalyticsApi } from '../testing/analytics-api.ts';
import { duringTests } from '../testing/during-tests.ts';
import { seeded } from '../testing/seeded.ts';
import type { SignedUp } from '../testing/test-api.ts';

const THROTTLED = { status: 429, refusal: 'rate_limit_exceeded' };
const MINUTE = 60n * SECOND;
/** 2026-11-20T10:30:00, the start of the clock minute that the tests take place in. */
const THIS_MINUTE = (NOW / MINUTE) * MINUTE;

describe('GET /admin/usage-throttling', () => {
  const started = duringTests(startAnalyticsApi);

  const throttling = ({ client }: SignedUp, query: Record<string, string> = {}) =>
    client.call(analytics.getUsageThrottling, { query });

  it('200 with no keys of an empty window, though there are keys', async () => {
    const account = await signUpWithKey(started, 'first');
    await account.add({ startedAtMicros: NOW - DAY - 1n }, { startedAtMicros: NOW + 1n }, { keyId: null });
    assert.deepEqual(await throttling(account), { time_range: '24h', keys: [] });
    assert.deepEqual(await throttling(account, { time_range: '999999999999d', model_alias: 'none' }), {
      time_range: '3650d',
      keys: [],
    });
  });

  it('200 with the requests of each key, those its limit rejected, and its busiest clock minute', async () => {
    const account = await signUpWithKey(started, 'first');
    await account.add(
      // Three within 60 seconds, but not within one minute of the clock.
      { startedAtMicros: THIS_MINUTE - 1n },
      { startedAtMicros: THIS_MINUTE },
      { startedAtMicros: THIS_MINUTE + 100_000n, ...THROTTLED },
      // Rejected by the provider, or for another reason.
      { startedAtMicros: NOW, status: 429, upstreamError: 'rate limited' },
      { startedAtMicros: NOW - 5n * MINUTE, status: 402, refusal: 'key_credit_exhausted' },
      { startedAtMicros: NOW - 5n * MINUTE, status: 429, refusal: 'credit_held' },
      // Stored later than the last rejection.
      { startedAtMicros: NOW - 3n * MINUTE, ...THROTTLED },
    );
    assert.deepEqual(await throttling(account), {
      time_range: '24h',
      keys: [
        {
          key: { id: account.key.id, name: 'first' },
          project: { id: account.projectId, name: 'Default' },
          rate_limit_rpm: 60,
          requests: 7,
          throttled: 2,
          peak_rpm: 3,
          last_throttled_at: '2026-11-20T10:30:00.100000Z',
        },
      ],
    });
  });

  it('200 with the most throttled first, then the busiest, then by id', async () => {
    const account = await signUpWithKey(started, 'first');
    const minted = [account.key, await account.mint(), await account.mint(), await account.mint()];
    const [a = '', b = '', c = '', d = ''] = minted.map(({ id }) => id).sort();
    const unknown = 'ffffffff-ffff-4fff-bfff-ffffffffffff';
    await account.add(
      ...[d, d, d, d].map((keyId) => ({ keyId })),
      ...[a, a].map((keyId) => ({ keyId, ...THROTTLED })),
      ...[c, c].map((keyId) => ({ keyId, ...THROTTLED })),
      ...[b, b].map((keyId) => ({ keyId, ...THROTTLED })),
      { keyId: b },
      { keyId: unknown },
    );
    const { keys: listed } = await throttling(account);
    assert.deepEqual(
      listed.map(({ key, requests, throttled }) => [key.id, requests, throttled]),
      [
        [b, 3, 2],
        [a, 2, 2],
        [c, 2, 2],
        [d, 4, 0],
        [unknown, 1, 0],
      ],
    );
    assert.equal(listed[3]?.last_throttled_at, null);
  });

  it('200 with null for the name of a revoked key, whose limit is still shown', async () => {
    const account = await signUpWithKey(started, 'first');
    await account.client.call(keys.updateKey, {
      params: { key_id: account.key.id },
      body: { rate_limit_rpm: 7 },
    });
    await account.add(THROTTLED);
    await account.client.call(keys.revokeKey, { params: { key_id: account.key.id } });
    const [listed] = (await throttling(account)).keys;
    assert.deepEqual([listed?.key, listed?.rate_limit_rpm], [{ id: account.key.id, name: null }, 7]);
    assert.equal((await throttling(account, { key_id: account.key.id })).keys.length, 1);
  });

  it('200 with null for unknown keys and projects', async () => {
    const [account, stranger] = [
      await signUpWithKey(started, 'first'),
      await signUpWithKey(started, 'first'),
    ];
    const [keyId, projectId] = [randomUUID(), randomUUID()];
    await account.add({ keyId, projectId });
    // Another organisation's key and project: their names and limits must not appear.
    await account.add({ keyId: stranger.key.id, projectId: stranger.projectId, ...THROTTLED });
    const figures = { rate_limit_rpm: null, requests: 1, peak_rpm: 1 };
    assert.deepEqual((await throttling(account)).keys, [
      {
        key: { id: stranger.key.id, name: null },
        project: null,
        ...figures,
        throttled: 1,
        last_throttled_at: '2026-11-20T10:30:00.123456Z',
      },
      {
        key: { id: keyId, name: null },
        project: null,
        ...figures,
        throttled: 0,
        last_throttled_at: null,
      },
    ]);
  });

  it('200 with the project of the key, whatever its rows say', async () => {
    const account = await signUpWithKey(started, 'first');
    await account.add({ projectId: null }, { projectId: randomUUID() });
    assert.equal((await throttling(account)).keys[0]?.project?.id, account.projectId);
  });

  it('200 with every request that a row stands for', async () => {
    const account = await signUpWithKey(started, 'first');
    await account.add(
      { startedAtMicros: THIS_MINUTE - 50n * SECOND, ...THROTTLED, requestCount: 1_900 },
      { startedAtMicros: THIS_MINUTE - 40n * SECOND, ...THROTTLED, requestCount: 40 },
      { startedAtMicros: THIS_MINUTE, ...THROTTLED, requestCount: 1_900 },
      { startedAtMicros: THIS_MINUTE - MINUTE, status: 401, refusal: 'key_expired', requestCount: 7 },
      { startedAtMicros: THIS_MINUTE - 1n },
    );
    const [listed] = (await throttling(account)).keys;
    assert.deepEqual(
      [listed?.requests, listed?.throttled, listed?.peak_rpm, listed?.last_throttled_at],
      [3_848, 3_840, 1_948, '2026-11-20T10:30:00.000000Z'],
    );
  });

  it('200 with what a loop over random rows finds', async () => {
    const { below, pick, maybe } = seeded(20_261_123);
    const account = await signUpWithKey(started, 'first');
    const keyIds = [account.key.id, (await account.mint()).id];
    const rows = Array.from({ length: 400 }, () => ({
      keyId: pick(keyIds),
      startedAtMicros: THIS_MINUTE - BigInt(1 + below(4 * 60)) * MINUTE + BigInt(below(20_000_000)),
      requestCount: maybe(0.1, () => 2 + below(3)) ?? 1,
      ...maybe(0.3, () => THROTTLED),
    }));
    await account.add(...rows);
    const { keys: listed } = await throttling(account);
    assert.equal(listed.length, 2);
    for (const { key, requests, throttled, peak_rpm } of listed) {
      const own = rows.filter(({ keyId }) => keyId === key.id);
      const sum = (some: typeof rows) => some.reduce((total, row) => total + row.requestCount, 0);
      const minutes = Map.groupBy(own, ({ startedAtMicros }) => startedAtMicros / MINUTE);
      assert.deepEqual(
        [requests, throttled, peak_rpm],
        [sum(own), sum(own.filter((row) => 'refusal' in row)), Math.max(...[...minutes.values()].map(sum))],
      );
    }
  });

  it('200 with as many keys as made requests', async () => {
    const account = await signUpWithKey(started, 'first');
    await account.add(...Array.from({ length: 3_000 }, () => ({ keyId: randomUUID() })));
    assert.equal((await throttling(account)).keys.length, 3_000);
  });
});
