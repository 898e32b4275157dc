import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analytics, keys } from '@gatehouse/contract';
import { NOW, signUpWithKey, startAnalyticsApi } from '../testing/analytics-api.ts';
import { duringTests } from '../testing/during-tests.ts';
import type { SignedUp } from '../testing/test-api.ts';

describe('GET /analytics/summary', () => {
  const started = duringTests(startAnalyticsApi);

  const summaryOf = ({ client }: SignedUp, query: Record<string, string | number> = {}) =>
    client.call(analytics.getSummary, { query });

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
      // 20 tokens in 1.5 s after the upstream request began.
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
      // A rejected request generates nothing.
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
