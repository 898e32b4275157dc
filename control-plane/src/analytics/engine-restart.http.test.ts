import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { analytics } from '@gatehouse/contract';
import { NOW, SECOND } from '../testing/analytics-api.ts';
import { type KillableTelemetry, startKillableTelemetry } from '../testing/killable-telemetry.ts';
import { exportedNdjson } from '../testing/request-log-export.ts';
import { addRequests, requestRow } from '../testing/requests.ts';
import { type SignedUp, startTestApi, type TestApi } from '../testing/test-api.ts';
import { watchedTelemetry } from '../testing/watched-telemetry.ts';

const ROWS = 12;
const PAGES = { points: 5, buckets: 2_000, rows: 5, bytes: 1_000_000 };

describe('an answer in pages whose store is killed between two of them', () => {
  let telemetry: KillableTelemetry;
  let api: TestApi;
  let account: SignedUp;
  let killed: Promise<void> | undefined;
  let killBefore = 0;
  before(async () => {
    telemetry = await startKillableTelemetry();
    const watched = watchedTelemetry(telemetry.client, () => {
      killBefore -= 1;
      if (killBefore === 0) killed = telemetry.kill();
      return telemetry.client;
    });
    api = await startTestApi(
      {},
      // As often as is needed on a slow machine, where a start takes its time.
      { telemetry: watched, nowMicros: () => NOW, pages: PAGES, retryDelaysMs: Array(300).fill(100) },
    );
    account = await api.signUp();
    await addRequests(
      telemetry,
      Array.from({ length: ROWS }, (_, index) =>
        requestRow({
          organizationId: account.organizationId,
          requestId: `r${index}`,
          startedAtMicros: NOW - BigInt(index) * 60n * SECOND,
        }),
      ),
    );
  });
  after(async () => {
    await killed;
    await api[Symbol.asyncDispose]();
    await telemetry[Symbol.asyncDispose]();
  });

  const isLogged = () =>
    api.logLines
      .splice(0)
      .some((line) => line['msg'] === 'analytics query failed: telemetry store unavailable');

  it('200 with the whole of an export', async () => {
    killBefore = 2;
    const ids = (await exportedNdjson(account)).map((row) => row.req_id);
    assert.deepEqual(
      ids,
      Array.from({ length: ROWS }, (_, index) => `r${index}`),
    );
    await killed;
    assert.ok(isLogged());
  });

  it('200 with the whole of a series', async () => {
    killBefore = 2;
    const { data } = await account.client.call(analytics.getTimeseries, { query: { interval: '1m' } });
    assert.deepEqual(
      data.map(({ value }) => value),
      Array(ROWS).fill(1),
    );
    await killed;
    assert.ok(isLogged());
  });
});
