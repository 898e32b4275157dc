import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analytics, keys } from '@gatehouse/contract';
import { NOW, SECOND, startAnalyticsApi } from '../testing/analytics-api.ts';

// No figure in milliseconds: the order of the answers says it. The drill analytics-fairness measures.
const CROWD = 200;
const ROWS = 300_000;

describe('two hundred heavy questions of one organisation at once', () => {
  it('200 for another that asks after them, long before they are through; 200 or 503 for each of them', async () => {
    await using started = await startAnalyticsApi();
    const { api, telemetry } = started;
    const [many, other] = [await api.signUp(), await api.signUp()];
    await telemetry.client.command({
      query: `INSERT INTO request_log (organization_id, timestamp, request_id, model, total_tokens)
              SELECT {organization:UUID}, fromUnixTimestamp64Micro({now:Int64} - number * {second:Int64}),
                     toString(number), toString(number % 5), number
              FROM numbers({rows:UInt64})`,
      query_params: { organization: many.organizationId, now: NOW, second: SECOND, rows: ROWS },
    });
    await started.add(other, [{}]);

    const crowdStatuses: number[] = [];
    const answered = Promise.withResolvers<void>();
    const crowd = Array.from({ length: CROWD }, async (_, nth) => {
      const query: Record<string, string> = { time_range: '4d', search: `nothing ${nth}` };
      const reply =
        nth % 2 === 0
          ? await many.client.send(analytics.listRequests, { query })
          : await many.client.send(analytics.getTimeseries, { query: { time_range: '1d', interval: '2m' } });
      crowdStatuses.push(reply.status);
      if (reply.status === 200) answered.resolve();
    });
    await answered.promise;

    // Those for whom the line was full are told at once, and take nobody's turn.
    const served = () => crowdStatuses.filter((status) => status === 200).length;
    const before = served();
    assert.equal((await other.client.call(analytics.getSummary)).total_requests, 1);
    const between = served() - before;
    assert.equal((await other.client.call(keys.listKeys)).keys.length, 0);
    assert.equal((await other.client.call(analytics.getTimeseries)).data.length, 1);
    const { length } = crowdStatuses;
    await Promise.all(crowd);
    assert.ok(between < 20, `${between} of the crowd came first`);
    assert.ok(length < CROWD, 'the crowd was through before the other had its three answers');
    assert.deepEqual(
      [...new Set(crowdStatuses)].filter((status) => status !== 200 && status !== 503),
      [],
    );
    assert.ok(served() >= 50, `${served()} of the crowd had an answer`);
  });
});
