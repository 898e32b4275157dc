import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analytics, auth, keys } from '@gatehouse/contract';
import { createTestTelemetry } from '@gatehouse/store/testing';
import { NOW, SECOND } from '../testing/analytics-api.ts';
import { addRequests, requestRow } from '../testing/requests.ts';
import { type SignedUp, startTestApi } from '../testing/test-api.ts';
import { waitFor } from '../testing/wait-for.ts';
import { watchedTelemetry } from '../testing/watched-telemetry.ts';

// Without a clock: the queries of one organisation hang until the effect on another is seen. The drill
// analytics-fairness measures the delay when they are answered.
const CROWD = 200;
const RUNNING = 2;
const QUEUED = 100;
const ROWS = 5_000;
const MINUTES = 10 * 60_000;

describe('two hundred concurrent queries of one organisation', () => {
  it('200 for another organisation while they hang and while they are answered; 503 only past the queue', async () => {
    await using stack = new AsyncDisposableStack();
    const telemetry = stack.use(await createTestTelemetry());
    const release = Promise.withResolvers<void>();
    let crowded: SignedUp | undefined;
    let begun = 0;
    const watched = watchedTelemetry(telemetry.client, async (_, organizationId) => {
      if (organizationId !== undefined && organizationId === crowded?.organizationId) {
        begun += 1;
        await release.promise;
      }
      return telemetry.client;
    });
    // With the default time limit a slow machine would answer some before their release.
    const api = stack.use(
      await startTestApi({ analyticsTimeoutMs: MINUTES }, { telemetry: watched, nowMicros: () => NOW }),
    );
    const [many, other] = [await api.signUp(), await api.signUp()];
    crowded = many;
    const rowsOf = ({ organizationId }: SignedUp, count: number) =>
      Array.from({ length: count }, (_, index) =>
        requestRow({
          organizationId,
          startedAtMicros: NOW - BigInt(index) * SECOND,
          model: `a/${index % 5}`,
        }),
      );
    await addRequests(telemetry, [...rowsOf(many, ROWS), ...rowsOf(other, 1)]);

    const statuses: number[] = [];
    const crowd = Array.from({ length: CROWD }, async (_, nth) => {
      const { status } =
        nth % 2 === 0
          ? await many.client.send(analytics.listRequests, { query: { search: `nothing ${nth}` } })
          : await many.client.send(analytics.getTimeseries, { query: { interval: '2m' } });
      statuses.push(status);
    });
    // Also where the test fails: nothing would close otherwise.
    stack.defer(async () => {
      release.resolve();
      await Promise.allSettled(crowd);
    });

    async function sendAsOther() {
      const { client } = other;
      assert.equal((await client.call(analytics.getSummary)).total_requests, 1);
      assert.equal((await client.call(analytics.getTimeseries)).data.length, 1);
      assert.equal((await client.call(analytics.listRequests)).requests.length, 1);
      assert.equal((await client.call(analytics.listRequests, { query: { search: 'nothing' } })).total, 0);
      assert.deepEqual((await client.call(keys.listKeys)).keys, []);
      for (const { email, password } of [many, other])
        await api.anonymous().call(auth.login, { body: { email, password } });
    }

    const rejected = Array.from({ length: CROWD - RUNNING - QUEUED }, () => 503);
    await waitFor('the queue to be full', () => statuses.length >= rejected.length);
    await sendAsOther();
    assert.equal(begun, RUNNING);
    assert.deepEqual(statuses, rejected, 'those past the queue are answered at once, and no others');

    release.resolve();
    await sendAsOther();
    await Promise.all(crowd);
    const answered = Array.from({ length: RUNNING + QUEUED }, () => 200);
    assert.deepEqual(statuses, [...rejected, ...answered]);
  });
});
