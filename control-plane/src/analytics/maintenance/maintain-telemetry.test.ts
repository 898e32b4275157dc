import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { TelemetryUnavailableError } from '@gatehouse/store';
import { createTestTelemetry, type TestTelemetry } from '@gatehouse/store/testing';
import { startBrokenTelemetry } from '../../testing/broken-telemetry.ts';
import { addRequests, requestRow } from '../../testing/requests.ts';
import { type MaintenanceOptions, maintainTelemetry } from './maintain-telemetry.ts';
import { countStaleKeys, repairLastUsed } from './telemetry.ts';

const ORGANIZATION = randomUUID();
const DAY_MS = 86_400_000;
const at = (time: string) => new Date(`${time}Z`);

let telemetry: TestTelemetry;
beforeEach(async () => {
  telemetry = await createTestTelemetry();
});
afterEach(() => telemetry[Symbol.asyncDispose]());

/** A request at a time such as 2026-08-31T23:59:59.999999. */
const add = (time: string, keyId: string | null = null, organizationId = ORGANIZATION) => {
  const startedAtMicros = BigInt(at(time.slice(0, 19)).getTime()) * 1000n + BigInt(time.slice(20) || 0);
  return addRequests(telemetry, [requestRow({ organizationId, keyId, startedAtMicros })]);
};
const maintain = (options: Partial<MaintenanceOptions> = {}) =>
  Array.fromAsync(
    maintainTelemetry(telemetry.client, { retentionDays: undefined, now: at('2027-06-01'), ...options }),
  );
async function query<Row>(sql: string): Promise<Row[]> {
  return (await telemetry.client.query({ query: sql, format: 'JSONEachRow' })).json<Row>();
}
const months = async () =>
  (
    await query<{ month: string }>(
      'SELECT toString(toYYYYMM(timestamp)) AS month FROM request_log GROUP BY month ORDER BY month',
    )
  ).map(({ month }) => month);
const lastUses = async () =>
  new Map(
    (
      await query<{ key: string; last: string }>(
        'SELECT key_id AS key, toString(max(last_used_at)) AS last FROM key_last_used GROUP BY key_id',
      )
    ).map(({ key, last }) => [key, last]),
  );
const VIEW = 'key_last_used_from_request_log';
/** As if the store crashed between the log and its view. */
async function withoutView(work: () => Promise<void>): Promise<void> {
  // Waits until no insert holds it any more: until then it could not be attached again.
  await telemetry.client.command({ query: `DETACH TABLE ${VIEW} SYNC` });
  await work();
  await telemetry.client.command({ query: `ATTACH TABLE ${VIEW}` });
}

describe('retention of the request log', () => {
  it('keeps everything where no number of days is configured', async () => {
    await add('1970-01-01T00:00:00.1');
    assert.deepEqual(await maintain(), []);
    assert.deepEqual(await months(), ['197001']);
  });

  it('drops a month once its last moment is too old, and not before', async () => {
    for (const time of ['2026-11-30T12:00:00', '2026-12-01T00:00:00', '2026-12-31T23:59:59.999999'])
      await add(time);
    await add('2027-01-01T00:00:00');
    const january = at('2027-01-01T00:00:00').getTime();
    const now = (days: number, beforeMs = 0) => new Date(january + days * DAY_MS - beforeMs);
    assert.deepEqual(await maintain({ retentionDays: 90, now: now(90, 1) }), [
      { done: 'month-dropped', month: '2026-11', requests: 1 },
    ]);
    assert.deepEqual(await maintain({ retentionDays: 90, now: now(90, 1) }), []);
    assert.deepEqual(await months(), ['202612', '202701']);
    assert.deepEqual(await maintain({ retentionDays: 90, now: now(90) }), [
      { done: 'month-dropped', month: '2026-12', requests: 2 },
    ]);
    assert.deepEqual(await months(), ['202701']);
  });

  it('may be applied by several nodes at once, and again to what comes late', async () => {
    const old = ['2024-02-29T00:00:00', '2025-12-31T00:00:00', '2026-01-01T00:00:00'];
    for (const time of [...old, '2027-05-31T00:00:00']) await add(time);
    const dropped = await Promise.all([1, 2, 3, 4].map(() => maintain({ retentionDays: 1 })));
    assert.deepEqual(
      new Set(dropped.flat().map((kept) => kept.done === 'month-dropped' && kept.month)),
      new Set(['2024-02', '2025-12', '2026-01']),
    );
    assert.deepEqual(await months(), ['202705']);
    await add('2025-12-30T00:00:00');
    assert.deepEqual(await maintain({ retentionDays: 1 }), [
      { done: 'month-dropped', month: '2025-12', requests: 1 },
    ]);
    assert.deepEqual(await maintain({ retentionDays: 36_500 }), []);
    assert.deepEqual(await months(), ['202705']);
  });

  it('keeps the last use of keys, also where only the dropped requests had it', async () => {
    const [known, unknown] = [randomUUID(), randomUUID()];
    await add('2025-03-04T05:06:07.8', known);
    await withoutView(() => add('2025-03-04T05:06:07.9', unknown));
    assert.deepEqual(await maintain({ retentionDays: 30 }), [
      { done: 'last-used-repaired', keys: 1 },
      { done: 'month-dropped', month: '2025-03', requests: 2 },
    ]);
    assert.deepEqual(await months(), []);
    assert.deepEqual(
      await lastUses(),
      new Map([
        [known, '2025-03-04 05:06:07.000008'],
        [unknown, '2025-03-04 05:06:07.000009'],
      ]),
    );
  });
});

describe('the repair of key_last_used', () => {
  it('repairs exactly the keys that were used later, once', async () => {
    const [right, behind, missing, elsewhere] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    for (const key of [right, behind, elsewhere]) await add('2027-01-01T00:00:00', key);
    await withoutView(async () => {
      await add('2026-12-31T00:00:00', right);
      await add('2027-02-01T00:00:00', behind);
      await add('2027-03-01T00:00:00.1', missing);
      await add('2027-04-01T00:00:00', null);
      // The same key id means another key in another organisation.
      await add('2026-01-01T00:00:00', elsewhere, randomUUID());
    });
    assert.deepEqual(await maintain(), [{ done: 'last-used-repaired', keys: 3 }]);
    assert.deepEqual(
      await lastUses(),
      new Map([
        [right, '2027-01-01 00:00:00.000000'],
        [behind, '2027-02-01 00:00:00.000000'],
        [missing, '2027-03-01 00:00:00.000001'],
        [elsewhere, '2027-01-01 00:00:00.000000'],
      ]),
    );
    assert.deepEqual(await maintain(), []);
  });

  it('may run on several nodes at once, and again where its rows are deleted', async () => {
    const key = randomUUID();
    const expected = new Map([[key, '2027-01-01 00:00:00.000000']]);
    await withoutView(() => add('2027-01-01T00:00:00', key));
    await Promise.all([1, 2, 3, 4].map(() => maintain()));
    assert.deepEqual(await lastUses(), expected);
    await telemetry.client.command({
      query: 'ALTER TABLE key_last_used DELETE WHERE 1 SETTINGS mutations_sync = 1',
    });
    assert.deepEqual([...(await lastUses())], []);
    assert.deepEqual(await maintain(), [{ done: 'last-used-repaired', keys: 1 }]);
    assert.deepEqual(await lastUses(), expected);
  });

  it('reads the hourly rollup and not the requests', async () => {
    await add('2027-01-01T00:00:00', randomUUID());
    const clickhouse_settings = { force_optimize_projection: 1 } as const;
    await (await telemetry.client.query({ query: countStaleKeys.sql, clickhouse_settings })).text();
    await telemetry.client.command({ query: repairLastUsed.sql, clickhouse_settings });
    // Without a projection the engine rejects the query.
    const query = 'SELECT max(request_id) FROM request_log';
    await assert.rejects(telemetry.client.query({ query, clickhouse_settings }), {
      type: 'PROJECTION_NOT_USED',
    });
  });
});

it('throws for an unavailable store, and stops waiting for one that never answers', async () => {
  const options = { retentionDays: 1, now: new Date() };
  await using refusing = await startBrokenTelemetry('hangs up');
  await assert.rejects(
    Array.fromAsync(maintainTelemetry(refusing.client, options)),
    TelemetryUnavailableError,
  );
  await using silent = await startBrokenTelemetry('never answers');
  const stopping = new AbortController();
  const kept = Array.fromAsync(maintainTelemetry(silent.client, { ...options, signal: stopping.signal }));
  stopping.abort();
  await assert.rejects(kept, TelemetryUnavailableError);
});
