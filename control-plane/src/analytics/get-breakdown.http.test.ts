import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analytics, keys } from '@gatehouse/contract';
import { NOW, SECOND, signUpWithKey, startAnalyticsApi } from '../testing/analytics-api.ts';
import { duringTests } from '../testing/during-tests.ts';
import type { SignedUp } from '../testing/test-api.ts';
import { MAX_GROUPS_AT_ONCE } from './breakdown/rules.ts';

// Everything about figures is in random-breakdown.http.test.ts.

describe('GET /analytics/breakdown', () => {
  const started = duringTests(startAnalyticsApi);
  const breakdownOf = ({ client }: SignedUp, group_by: string, query: Record<string, string> = {}) =>
    client.call(analytics.getBreakdown, { query: { group_by, ...query } });
  const requestsBy = async (account: SignedUp, group_by: string, query: Record<string, string> = {}) =>
    (await breakdownOf(account, group_by, query)).groups.map(({ group, requests }) => [group, requests]);

  const UNKNOWN = { p50: null, p95: null };
  const NOTHING = { requests: 0, errors: 0, tokens: 0, cost_pkr: 0, total_ms: UNKNOWN, ttft_ms: UNKNOWN };

  it('200 with zeros, null quantiles and no groups of an empty window', async () => {
    const account = await signUpWithKey(started);
    for (const group_by of [...analytics.BREAKDOWN_GROUPINGS, 'metadata:team']) {
      assert.deepEqual(await breakdownOf(account, group_by), {
        from: '2026-11-19T10:30:00.123456Z',
        to: '2026-11-20T10:30:00.123457Z',
        group_by,
        total: NOTHING,
        groups: [],
        other: null,
      });
    }
  });

  it('200 with null for the first token where no request had one', async () => {
    const account = await signUpWithKey(started);
    await account.add({ totalMs: 0 }, { totalMs: 512, costMicroPkr: 3n });
    const { total, groups } = await breakdownOf(account, 'status');
    assert.deepEqual(total, {
      requests: 2,
      errors: 0,
      tokens: 60,
      cost_pkr: 0.000003,
      total_ms: { p50: 0, p95: 512 },
      ttft_ms: UNKNOWN,
    });
    assert.deepEqual(groups, [{ group: '200', name: '200', ...total }]);
  });

  it('200 with the code of each kind of failure, and null where there is none', async () => {
    const account = await signUpWithKey(started);
    const cut = {
      terminationReason: 'upstream_stream_aborted',
      upstreamError: 'the connection broke',
    } as const;
    const late = { terminationReason: 'proxy_guillotine', upstreamError: 'timed out' } as const;
    const left = { terminationReason: 'client_disconnect' } as const;
    const errors: [string | null, object][] = [
      [null, {}],
      [null, left],
      [null, { ...left, status: 499 }],
      [null, { ...left, status: 499, upstreamError: 'overloaded' }],
      ['rate_limit_exceeded', { status: 429, refusal: 'rate_limit_exceeded', requestCount: 40 }],
      ['model_not_found', { ...left, status: 499, refusal: 'model_not_found' }],
      ['upstream_429', { status: 429, upstreamError: 'slow down' }],
      ['upstream_500', { status: 500 }],
      ['upstream_error', { upstreamError: 'an error event in the stream' }],
      ['upstream_error', { ...cut, status: 502, refusal: 'upstream_error' }],
      ['upstream_stream_aborted', cut],
      ['upstream_timeout', late],
      ['upstream_timeout', { ...late, status: 504, refusal: 'upstream_timeout' }],
    ];
    await account.add(...errors.map(([, row]) => row));
    const { total, groups } = await breakdownOf(account, 'error_code');
    const found = groups.map(({ group, requests, errors: failed }) => [group, requests, failed]);
    assert.deepEqual(found, [
      ['rate_limit_exceeded', 40, 40],
      [null, 4, 0],
      ['upstream_error', 2, 2],
      ['upstream_timeout', 2, 2],
      ['model_not_found', 1, 1],
      ['upstream_429', 1, 1],
      ['upstream_500', 1, 1],
      ['upstream_stream_aborted', 1, 1],
    ]);
    assert.deepEqual([total.requests, total.errors], [52, 48]);
  });

  it('200 with the environment that each key was minted for, revoked keys too', async () => {
    const account = await signUpWithKey(started);
    const mint = async (environment: string) =>
      (
        await account.client.call(keys.createKey, {
          body: { project_id: account.projectId, name: environment, environment },
        })
      ).id;
    const [testing, other, development] = [
      await mint('testing'),
      await mint('testing'),
      await mint('development'),
    ];
    await account.client.call(keys.revokeKey, { params: { key_id: development } });
    await account.add(
      { requestCount: 9 },
      { keyId: testing, requestCount: 4 },
      { keyId: other, requestCount: 3 },
      { keyId: development, requestCount: 2, model: 'b' },
      { keyId: null, requestCount: 1 },
    );
    assert.deepEqual(await requestsBy(account, 'environment'), [
      ['production', 9],
      ['testing', 7],
      ['development', 2],
      [null, 1],
    ]);
    assert.deepEqual(await requestsBy(account, 'environment', { model_alias: 'b' }), [['development', 2]]);
    assert.deepEqual(await requestsBy(account, 'environment', { key_id: testing }), [['testing', 4]]);
  });

  it('200 with names of keys, null for a revoked key and for no key', async () => {
    const account = await signUpWithKey(started, 'live');
    const revoked = await account.mint('revoked');
    await account.add({ requestCount: 3 }, { keyId: revoked.id, requestCount: 2 }, { keyId: null });
    await account.client.call(keys.revokeKey, { params: { key_id: revoked.id } });
    const { groups } = await breakdownOf(account, 'key');
    assert.deepEqual(
      groups.map(({ group, name, requests }) => [group, name, requests]),
      [
        [account.key.id, 'live', 3],
        [revoked.id, null, 2],
        [null, null, 1],
      ],
    );
  });

  it('200 with metadata by a name of any case and of any characters, taken literally', async () => {
    const account = await signUpWithKey(started);
    const stranger = await signUpWithKey(started);
    const names = [
      'team',
      "a'b",
      "x'] from request_log --",
      'a\\',
      '"',
      '`',
      '{metadata_name:string}',
      '__proto__',
      'a:b',
      '\u{1d54f}'.repeat(64),
      '%',
      '\t',
    ];
    for (const name of names) {
      const [at, value] = [NOW - BigInt(names.indexOf(name)) * SECOND, `value of ${name}`];
      await account.add({ startedAtMicros: at, metadata: new Map([[name, value]]), requestCount: 2 });
      await stranger.add({ startedAtMicros: at, metadata: new Map([[name, 'foreign']]) });
    }
    await account.add({ metadata: new Map([['team', '']]) });
    for (const name of names) {
      const spelled = name.toUpperCase();
      const { groups, group_by } = await breakdownOf(account, `metadata:${spelled}`);
      assert.equal(group_by, `metadata:${name}`);
      const found = groups.map(({ group, requests }) => [group, requests]);
      assert.deepEqual(found, [
        [null, 2 * names.length - 1],
        [`value of ${name}`, 2],
      ]);
    }
  });

  it('400 for a grouping that is none, with what is accepted', async () => {
    const { client } = await started.api.signUp();
    for (const group_by of [
      'metadata',
      'metadata:',
      `metadata:${'x'.repeat(65)}`,
      'metadata:x\u0000y',
      'Status',
      'refusal',
      'key_id',
      'status; DROP TABLE request_log',
      '__proto__',
      'constructor',
    ]) {
      const reply = await client.send(analytics.getBreakdown, { query: { group_by } });
      assert.equal(reply.status, 400, group_by);
      assert.match(
        reply.text,
        group_by.includes('\u0000') ? /U\+0000/ : /Must be one of status, error_code, .*metadata:NAME/,
      );
    }
    for (const query of [
      { from: 'x' },
      { to: '2026-11-20T00:00:00Z' },
      { time_range: 'x' },
      { limit: '-1' },
    ]) {
      assert.equal((await client.send(analytics.getBreakdown, { query })).status, 400, JSON.stringify(query));
    }
  });

  it('200 with exact totals for more groups than are kept at once, with the same for a few as for many', async () => {
    const account = await signUpWithKey(started);
    const count = MAX_GROUPS_AT_ONCE + 1;
    const row = (n: number) => ({
      metadata: new Map([['session-id', `s${n}`]]),
      model: `m${n}`,
      requestCount: 1 + (n % 3),
      totalMs: n,
      costMicroPkr: BigInt(n),
    });
    await account.add(...Array.from({ length: count }, (_, n) => row(n)));
    for (const [group_by, letter] of [
      ['metadata:session-id', 's'],
      ['model', 'm'],
    ] as const) {
      const { total, groups, other } = await breakdownOf(account, group_by, { limit: '3' });
      assert.deepEqual(
        groups.map(({ group, requests }) => [group, requests]),
        ['101', '104', '107'].map((n) => [`${letter}${n}`, 3]),
      );
      assert.equal(total.requests, 513);
      assert.equal(total.cost_pkr, 0.032896);
      assert.deepEqual([other?.groups, other?.requests, other?.cost_pkr], [count - 3, 504, 0.032584]);
    }
  });

  it('200 with exact totals for 300,000 values of metadata', async () => {
    const account = await signUpWithKey(started);
    await started.telemetry.client.command({
      query: `INSERT INTO request_log (organization_id, timestamp, request_id, cost_micro_pkr, total_ms, metadata)
              SELECT {organization:UUID}, fromUnixTimestamp64Micro({now:Int64} - number), toString(number), 3, number % 1000,
                     map('session-id', toString(intDiv(number, 1 + (number < 500))))
              FROM numbers(300000)`,
      query_params: { organization: account.organizationId, now: NOW },
    });
    const { total, groups, other } = await breakdownOf(account, 'metadata:session-id', { limit: '1000' });
    assert.deepEqual([total.requests, total.cost_pkr], [300_000, 0.9]);
    assert.deepEqual([groups.length, groups[0]?.requests, groups[99]?.requests], [100, 2, 2]);
    // The values 0 to 249 have two requests each.
    assert.deepEqual([other?.groups, other?.requests], [299_650, 299_800]);
    assert.ok(Math.abs((total.total_ms.p95 ?? 0) - 949) < 2);
  });
});
