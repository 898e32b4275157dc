import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analytics } from '@gatehouse/contract';
import { NOW, SECOND, startAnalyticsApi } from '../testing/analytics-api.ts';
import { duringTests } from '../testing/during-tests.ts';
import { addRequests, requestRow } from '../testing/requests.ts';
import { type SignedUp, startTestApi } from '../testing/test-api.ts';
import { watchedTelemetry } from '../testing/watched-telemetry.ts';

// Enough that the last of them are read from the other end.
const ROWS = 2_400;

describe('a page of GET /analytics/requests', () => {
  const started = duringTests(startAnalyticsApi);

  /** Adds the rows, many at one instant, and returns their ids in the order of the log. */
  async function addRows(account: SignedUp): Promise<string[]> {
    const rows = Array.from({ length: ROWS }, (_, index) => ({
      requestId: `r${String((index * 997) % ROWS).padStart(4, '0')}`,
      startedAtMicros: NOW - BigInt(index % 7) * SECOND,
    }));
    await started.add(account, rows.slice(0, 1_000));
    await started.add(account, rows.slice(1_000));
    return rows
      .toSorted(
        (a, b) => Number(b.startedAtMicros - a.startedAtMicros) || (a.requestId > b.requestId ? -1 : 1),
      )
      .map(({ requestId }) => requestId);
  }

  it('200 with the same rows, from either end', async () => {
    const account = await started.api.signUp();
    const expected = await addRows(account);
    const offsets = [
      0, 990, 999, 1_000, 1_001, 1_150, 1_174, 1_175, 1_176, 1_200, 1_300, 1_850, 2_349, 2_350,
    ];
    for (const offset of [...offsets, 2_351, 2_399, 2_400, 2_401]) {
      // Every id has an r. A search has its own paging.
      for (const search of ['', 'R']) {
        const { total, requests } = await account.client.call(analytics.listRequests, {
          query: { offset, search },
        });
        assert.equal(total, ROWS);
        assert.deepEqual(
          requests.map((row) => row.req_id),
          expected.slice(offset, offset + 50),
          `from ${offset}, search ${JSON.stringify(search)}`,
        );
      }
    }
  });

  for (const offset of [0, 30, 1_100, 1_500, 2_380]) {
    for (const query of [1, 2]) {
      it(`200 with as many rows as its total says, from ${offset}, while some arrive before query ${query}`, async () => {
        let account: SignedUp | undefined;
        let nth = 0;
        const telemetry = watchedTelemetry(started.telemetry.client, async () => {
          nth += 1;
          if (account && nth === query) {
            const { organizationId } = account;
            // At both ends and in between.
            const rows = [0, 3, 7].map((age) => ({
              requestId: `late${age}`,
              startedAtMicros: NOW - BigInt(age) * SECOND,
            }));
            await addRequests(
              started.telemetry,
              rows.map((row) => requestRow({ organizationId, ...row })),
            );
          }
          return started.telemetry.client;
        });
        await using api = await startTestApi({}, { telemetry, nowMicros: () => NOW });
        account = await api.signUp();
        await addRows(account);
        const { total, requests } = await account.client.call(analytics.listRequests, { query: { offset } });
        assert.ok(total === ROWS || total === ROWS + 3, `${total}`);
        assert.equal(requests.length, Math.min(50, total - offset));
        assert.equal(new Set(requests.map((row) => row.req_id)).size, requests.length);
        assert.deepEqual(
          requests.map((row) => row.timestamp),
          requests.map((row) => row.timestamp).toSorted((a, b) => (a < b ? 1 : -1)),
        );
      });
    }
  }

  it('200 with the first request of an organisation that arrives during the call', async () => {
    for (const query of [1, 2]) {
      let account: SignedUp | undefined;
      let nth = 0;
      const telemetry = watchedTelemetry(started.telemetry.client, async () => {
        nth += 1;
        if (account && nth === query) await started.add(account, [{ requestId: 'first' }]);
        return started.telemetry.client;
      });
      await using api = await startTestApi({}, { telemetry, nowMicros: () => NOW });
      account = await api.signUp();
      const { total, requests } = await account.client.call(analytics.listRequests);
      assert.equal(requests.length, total);
    }
  });
});
