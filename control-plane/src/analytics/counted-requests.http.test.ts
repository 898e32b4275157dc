import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analytics } from '@gatehouse/contract';
import { DAY, NOW, SECOND, signUpWithKey, startAnalyticsApi } from '../testing/analytics-api.ts';
import { duringTests } from '../testing/during-tests.ts';

// A row may stand for many rejected requests. The request log lists and counts rows; all figures count requests.

const REJECTED = {
  status: 429,
  refusal: 'rate_limit_exceeded',
  model: '',
  tokensGenerated: 0,
  totalTokens: 0,
};

describe('rows that stand for several requests', () => {
  const started = duringTests(startAnalyticsApi);

  async function withRows() {
    const account = await signUpWithKey(started);
    await account.add(
      { requestId: 'served', totalMs: 1_000, startedAtMicros: NOW - 60n * SECOND },
      { ...REJECTED, requestId: 'counted', totalMs: 1, requestCount: 1_999 },
      { ...REJECTED, requestId: 'older', totalMs: 1, requestCount: 500, startedAtMicros: NOW - 5n * DAY },
    );
    return account;
  }

  it('200 with all of them in the summary, and in its mean', async () => {
    const { client, key } = await withRows();
    const summary = await client.call(analytics.getSummary, { query: { key_id: key.id } });
    assert.deepEqual(summary, {
      time_range: '24h',
      total_requests: 2_000,
      avg_e2e_latency_ms: (1_000 + 1_999) / 2_000,
      avg_ttft_ms: null,
      avg_tokens_per_sec: 20,
      total_token_usage: 30,
      total_cost_pkr: 0,
    });
    const longer = await client.call(analytics.getSummary, { query: { time_range: '30d' } });
    assert.equal(longer.total_requests, 2_500);
  });

  it('200 with all of them in a series, from rows and from the rollup', async () => {
    const { client } = await withRows();
    for (const [time_range, interval, expected] of [
      ['1h', '1m', [1, 1_999]],
      ['30d', '1d', [500, 1, 1_999]],
    ] as const) {
      const { data } = await client.call(analytics.getTimeseries, { query: { time_range, interval } });
      assert.deepEqual(data.map(({ value }) => value).sort(), [...expected].sort(), interval);
    }
  });

  it('200 with one entry and its count in the log, whose total is rows', async () => {
    const { client } = await withRows();
    for (const [query, expected] of [
      [{}, { counted: 1_999, served: undefined }],
      [{ status_category: '4xx' }, { counted: 1_999 }],
      [
        { status_category: '4xx', time_range: '7d' },
        { counted: 1_999, older: 500 },
      ],
      [{ search: 'COUNTED' }, { counted: 1_999 }],
      [{ min_cost_pkr: '0.000001' }, {}],
    ] as const) {
      const page = await client.call(analytics.listRequests, { query });
      const entries = page.requests.map((entry) => [entry.req_id, entry.request_count]);
      assert.deepEqual(entries, Object.entries(expected), JSON.stringify(query));
      assert.equal(page.total, entries.length);
      for (const entry of page.requests) assert.equal('request_count' in entry, entry.req_id !== 'served');
    }
  });
});
