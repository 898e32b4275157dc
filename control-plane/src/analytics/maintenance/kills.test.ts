import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { it } from 'node:test';
import { startKillableTelemetry } from '../../testing/killable-telemetry.ts';
import { addRequests, requestRow } from '../../testing/requests.ts';
import { maintainTelemetry } from './maintain-telemetry.ts';
import { countStaleKeys } from './telemetry.ts';

const KILLS = 4;
const BATCHES_BEFORE_A_KILL = 8;
const DAY_MICROS = 86_400_000_000n;
const START_MICROS = BigInt(Date.UTC(2026, 10, 1)) * 1000n;
const ORGANIZATION = randomUUID();

// No batch is sent again here, as where the gateway asked the store for the ids that it has. So what a kill leaves
// inconsistent stays so until maintenance.
it('after kills in the middle of inserts, a repair brings everything up to the request log', async () => {
  await using store = await startKillableTelemetry();
  const telemetry = store.client;
  const events = new EventEmitter();
  const acknowledged: string[] = [];
  /** A request of a key of its own in each of three months. */
  const insert = async () => {
    const rows = [0n, 31n, 62n].map((days) =>
      requestRow({
        organizationId: ORGANIZATION,
        keyId: randomUUID(),
        startedAtMicros: START_MICROS + days * DAY_MICROS,
      }),
    );
    await addRequests(store, rows);
    acknowledged.push(...rows.map(({ keyId }) => keyId ?? ''));
    events.emit('batch');
  };
  for (let kill = 0; kill < KILLS; kill++) {
    const writing = Promise.allSettled(
      [1, 2].map(async () => {
        for (;;) await insert();
      }),
    );
    for (let batch = 0; batch < BATCHES_BEFORE_A_KILL; batch++) {
      const ended = await Promise.race([once(events, 'batch').then(() => undefined), writing]);
      assert.equal(ended, undefined, 'both ended before the kill');
    }
    await Promise.all([store.kill(), writing]);
  }

  const run = async <Row>(query: string) =>
    (await telemetry.query({ query, format: 'JSONEachRow' })).json<Row>();
  const [before] = await run<{ stale: string }>(countStaleKeys.sql);
  const behind = Number(before?.stale);
  const kept = await Array.fromAsync(
    maintainTelemetry(telemetry, { retentionDays: undefined, now: new Date(0) }),
  );
  assert.deepEqual(kept, behind === 0 ? [] : [{ done: 'last-used-repaired', keys: behind }]);

  const uses = (table: string, time: string) =>
    run<{ key: string }>(
      `SELECT key_id AS key, max(${time}) AS last FROM ${table} GROUP BY key ORDER BY key`,
    );
  const used = await uses('request_log', 'timestamp');
  assert.deepEqual(await uses('key_last_used', 'last_used_at'), used);
  const known = new Set(used.map(({ key }) => key));
  assert.deepEqual(
    acknowledged.filter((key) => !known.has(key)),
    [],
  );
  const hours = (settings: string) =>
    run(`SELECT toStartOfHour(timestamp) AS hour, count() AS requests, sum(total_us) AS total FROM request_log
         GROUP BY hour ORDER BY hour SETTINGS ${settings}`);
  assert.deepEqual(await hours('force_optimize_projection = 1'), await hours('optimize_use_projections = 0'));
});
