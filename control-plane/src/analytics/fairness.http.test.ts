import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analytics, auth, keys } from '@gatehouse/contract';
import { createTestTelemetry } from '@gatehouse/store/testing';
import { NOW, SECOND } from '../testing/analytics-api.ts';
import { addRequests, requestRow } from '../testing/requests.ts';
import { type SignedUp, startTestApi } from '../testing/test-api.ts';
import { waitFor } from '../testing/wait-for.ts';
import { watchedTelemetry } from '../testing/watched-telemetry.ts';

// No clock decides here: the crowd's questions hang for as long as it takes to see what another feels of them. How long
// that is when they are really answered, the drill analytics-fairness measures.
const CROWD = 200;
const AT_THE_STORE = 2;
const IN_LINE = 100;
const ROWS = 5_000;
const MINUTES = 10 * 60_000;

describe('two hundred questions of one organisation at once', () => {
  it('200 for another that asks while they hang and while they are answered; 503 only for those beyond the line', async () => {
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
    // With the usual time limit a slow machine would answer some of the crowd before they are released.
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
    // Also where the test fails, or nothing here would ever close.
    stack.defer(async () => {
      release.resolve();
      await Promise.allSettled(crowd);
    });

    async function askAsOther() {
      const { client } = other;
      assert.equal((await client.call(analytics.getSummary)).total_requests, 1);
      assert.equal((await client.call(analytics.getTimeseries)).data.length, 1);
      assert.equal((await client.call(analytics.listRequests)).requests.length, 1);
      assert.equal((await client.call(analytics.listRequests, { query: { search: 'nothing' } })).total, 0);
      assert.deepEqual((await client.call(keys.listKeys)).keys, []);
      for (const { email, password } of [many, other])
        await api.anonymous().call(auth.login, { body: { email, password } });
    }

    const refused = Array.from({ length: CROWD - AT_THE_STORE - IN_LINE }, () => 503);
    await waitFor('the line to be full', () => statuses.length >= refused.length);
    await askAsOther();
    assert.equal(begun, AT_THE_STORE);
    assert.deepEqual(
      statuses,
      refused,
      'those beyond the line are told at once, and nobody else has an answer',
    );

    release.resolve();
    await askAsOther();
    await Promise.all(crowd);
    const answered = Array.from({ length: AT_THE_STORE + IN_LINE }, () => 200);
    assert.deepEqual(statuses, [...refused, ...answered]);
  });
});
