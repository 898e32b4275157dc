import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { analytics, keys, organization } from '@gatehouse/contract';
import {
  type AnalyticsApi,
  DAY,
  NOW,
  SECOND,
  signUpWithKey,
  startAnalyticsApi,
} from '../testing/analytics-api.ts';
import type { SignedUp, TestApi } from '../testing/test-api.ts';

describe('GET /analytics/summary', () => {
  let started: AnalyticsApi;
  let api: TestApi;
  before(async () => {
    started = await startAnalyticsApi();
    api = started.api;
  });
  after(() => started[Symbol.asyncDispose]());

  const summaryOf = ({ client }: SignedUp, query: Record<string, string | number> = {}) =>
    client.call(analytics.getSummary, { query });

  it('401 without a session, whatever is asked', async () => {
    const body = await api.anonymous().refused(analytics.getSummary, 401, { query: { time_range: 'x' } });
    assert.deepEqual(body, { detail: 'Unauthorized' });
  });

  it('200 with zeros, and null for every average, of an empty window', async () => {
    const account = await signUpWithKey(started);
    const empty = {
      time_range: '24h',
      total_requests: 0,
      avg_e2e_latency_ms: null,
      avg_ttft_ms: null,
      avg_tokens_per_sec: null,
      total_token_usage: 0,
    };
    assert.deepEqual(await summaryOf(account), empty);
    assert.deepEqual(await summaryOf(account, { key_id: account.key.id }), { ...empty, total_cost_pkr: 0 });
  });

  it('200 with averages over the rows that have the figure', async () => {
    const account = await signUpWithKey(started);
    await account.add(
      // 40 tokens in 4 s after the first token.
      {
        isStream: true,
        totalMs: 5000,
        ttftMs: 1000,
        tokensGenerated: 40,
        totalTokens: 50,
        costMicroPkr: 8_200_000n,
      },
      // 20 tokens in 1.5 s after the upstream was asked.
      {
        isStream: false,
        totalMs: 2000,
        preDispatchMs: 500,
        tokensGenerated: 20,
        totalTokens: 30,
        costMicroPkr: 1n,
      },
      // A stream without a first token: its tokens have no known time.
      { isStream: true, totalMs: 700, ttftMs: null, tokensGenerated: 1000, totalTokens: 1000 },
      // A refusal generates nothing.
      { status: 429, totalMs: 300, tokensGenerated: 0, totalTokens: 0 },
    );
    assert.deepEqual(await summaryOf(account), {
      time_range: '24h',
      total_requests: 4,
      avg_e2e_latency_ms: 2000,
      avg_ttft_ms: 1000,
      avg_tokens_per_sec: 60 / 5.5,
      total_token_usage: 1080,
    });
    assert.equal((await summaryOf(account, { key_id: account.key.id })).total_cost_pkr, 8.200001);
  });

  it('200 with no speed where the tokens took no time', async () => {
    const account = await signUpWithKey(started);
    await account.add({ totalMs: 5, preDispatchMs: 5, tokensGenerated: 7 });
    assert.equal((await summaryOf(account)).avg_tokens_per_sec, null);
  });

  it('200 with both ends of the window and nothing beyond', async () => {
    const account = await signUpWithKey(started);
    await account.add(
      { startedAtMicros: NOW + 1n, totalTokens: 1 },
      { startedAtMicros: NOW, totalTokens: 10 },
      { startedAtMicros: NOW - 60n * SECOND, totalTokens: 100 },
      { startedAtMicros: NOW - 60n * SECOND - 1n, totalTokens: 1000 },
      { startedAtMicros: NOW - DAY, totalTokens: 10_000 },
      { startedAtMicros: NOW - DAY - 1n, totalTokens: 100_000 },
    );
    for (const [time_range, tokens] of [
      ['60s', 110],
      ['1m', 110],
      ['59s', 10],
      ['24h', 11_110],
      ['1440m', 11_110],
      ['', 11_110],
      [' ', 11_110],
      ['2d', 111_110],
      ['000000000002d', 111_110],
    ] as const) {
      const summary = await summaryOf(account, { time_range });
      assert.equal(summary.total_token_usage, tokens, time_range);
      assert.equal(summary.time_range, time_range.trim() || '24h');
    }
  });

  it('200 with a window of 3650 days at most, which is what it then says', async () => {
    const account = await signUpWithKey(started);
    await account.add(
      { startedAtMicros: NOW - 3650n * DAY, totalTokens: 1 },
      { startedAtMicros: NOW - 3650n * DAY - 1n, totalTokens: 10 },
      { startedAtMicros: NOW + 365n * DAY, totalTokens: 100 },
    );
    for (const time_range of ['3650d', '3651d', '999999999999d', '999999999999s', '87601h']) {
      const summary = await summaryOf(account, { time_range });
      assert.deepEqual([summary.time_range, summary.total_token_usage], ['3650d', 1], time_range);
    }
  });

  for (const time_range of [
    '0s',
    '-1h',
    '+5m',
    '1.5h',
    '\u0663h',
    '24H',
    '24h\n',
    '1d2h',
    'h',
    '24',
    '1w',
    '1234567890123s',
    "24h'",
  ]) {
    it(`400 with the fault for the time_range ${JSON.stringify(time_range)}`, async () => {
      const { client } = await api.signUp();
      const body = await client.refused(analytics.getSummary, 400, { query: { time_range } });
      assert.deepEqual((body['detail'] as { loc: string[] }[])[0]?.loc, ['query', 'time_range']);
    });
  }

  it('200 with what the filters leave, and zeros for a project that does not hold the key', async () => {
    const [account, other] = [await signUpWithKey(started), await signUpWithKey(started)];
    const second = await account.mint();
    await other.add({ totalTokens: 1_000_000, costMicroPkr: 1_000_000n });
    await account.add(
      { totalTokens: 1, costMicroPkr: 1n },
      { totalTokens: 10, costMicroPkr: 10n, keyId: second.id },
      { totalTokens: 100, costMicroPkr: 100n, keyId: null, projectId: null },
      { totalTokens: 1000, costMicroPkr: 1000n, model: 'a/two' },
      { totalTokens: 10_000, costMicroPkr: 10_000n, projectId: randomUUID() },
    );
    for (const [query, tokens] of [
      [{}, 11_111],
      [{ project_id: account.projectId }, 1011],
      [{ project_id: account.projectId.toUpperCase() }, 1011],
      [{ key_id: account.key.id }, 11_001],
      [{ key_id: second.id }, 10],
      [{ key_id: account.key.id, project_id: account.projectId }, 1001],
      [{ model_alias: 'a/two' }, 1000],
      [{ model_alias: 'A/two' }, 0],
      [{ model_alias: 'a/tw%' }, 0],
      [{ model_alias: ' ' }, 11_111],
      [{ model: 'a/two' }, 11_111],
      [{ model_alias: 'a/one', key_id: second.id }, 10],
      [{ project_id: '', key_id: ' ', model_alias: '', time_range: '' }, 11_111],
    ] as const) {
      const summary = await summaryOf(account, query);
      assert.equal(summary.total_token_usage, tokens, JSON.stringify(query));
      const isOfOneKey = 'key_id' in query && query.key_id.trim() !== '';
      assert.equal(summary.total_cost_pkr, isOfOneKey ? tokens / 1_000_000 : undefined);
    }
    const { projects } = await other.client.call(organization.listProjects);
    await account.client.refused(analytics.getSummary, 404, {
      query: { project_id: String(projects[0]?.id) },
    });

    const zeros = await summaryOf(account, { key_id: second.id, model_alias: 'a/two' });
    assert.deepEqual(zeros, {
      time_range: '24h',
      total_requests: 0,
      avg_e2e_latency_ms: null,
      avg_ttft_ms: null,
      avg_tokens_per_sec: null,
      total_token_usage: 0,
      total_cost_pkr: 0,
    });
  });

  it('200 for the id of a revoked key, whose spend still counts', async () => {
    const account = await signUpWithKey(started);
    await account.add({ costMicroPkr: 12_500_000n });
    await account.client.call(keys.revokeKey, { params: { key_id: account.key.id } });
    assert.equal((await summaryOf(account, { key_id: account.key.id })).total_cost_pkr, 12.5);
  });

  it('200 with a cost that is exact over a million rows', async () => {
    const account = await signUpWithKey(started);
    await started.telemetry.client.command({
      query: `INSERT INTO request_log (organization_id, timestamp, request_id, key_id, cost_micro_pkr)
              SELECT {organization:UUID}, fromUnixTimestamp64Micro({now:Int64} - number), toString(number), {key:UUID}, 100000
              FROM numbers(1000000)`,
      query_params: { organization: account.organizationId, key: account.key.id, now: NOW },
    });
    const summary = await summaryOf(account, { key_id: account.key.id });
    assert.equal(summary.total_cost_pkr, 100_000);
    assert.equal(summary.total_requests, 1_000_000);
  });
});
