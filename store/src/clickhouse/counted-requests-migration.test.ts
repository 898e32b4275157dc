import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { useTestEngine, waitFor } from '@gatehouse/embedded/testing';
import { hourlySums, rowsWithout } from '../testing/hourly-sums.ts';
import { requestLogRow } from '../testing/request-log-row.ts';
import { rowsOf } from '../testing/rows-of.ts';
import { createTelemetryClient } from './client.ts';
import { insertBeforeVersion3 } from './insert-before-version-3.fixture.ts';
import { insertRequestLog } from './insert-request-log.ts';
import { migrateTelemetry, readTelemetryMigrations } from './migrate.ts';
import type { RequestLogRow } from './request-log-columns.ts';

// Stores of earlier versions with rows, migrated to the version whose rows may stand for several requests.

const ORGANIZATION = randomUUID();

function request(n: number, given: Partial<RequestLogRow> = {}): RequestLogRow {
  return requestLogRow({
    organizationId: ORGANIZATION,
    startedAtMicros: BigInt(Date.UTC(2026, 9, 30)) * 1000n + BigInt(n) * 600_000_000n,
    requestId: `request ${n}`,
    keyId: ORGANIZATION,
    ...given,
  });
}

const telemetry = await useTestEngine();

describe('the migration to version 3', () => {
  for (const version of [1, 2]) {
    test(`migrates a store of version ${version}, and nodes without request_count go on writing`, async () => {
      const database = `old_${version}`;
      const migrations = readTelemetryMigrations().slice(0, version);
      await migrateTelemetry(telemetry.engine, { database, migrations });
      await using client = createTelemetryClient(telemetry.engine, { database });
      const some = (from: number) => Array.from({ length: 50 }, (_, n) => request(from + n));
      await insertBeforeVersion3(client, some(0), { token: 'before', database });
      // What an earlier version is still computing must not be in the way.
      await client.command({ query: 'SYSTEM STOP MERGES request_log' });

      const applied = await Promise.all([1, 2].map(() => migrateTelemetry(telemetry.engine, { database })));
      assert.ok(applied.flat().includes(3));
      // A node that was there before goes on as it was, and a repeat of its batch is known.
      await insertBeforeVersion3(client, some(50), { token: 'after', database });
      await insertBeforeVersion3(client, some(50), { token: 'after', database });
      const counted = request(100, {
        status: 429,
        refusal: 'rate_limit_exceeded',
        requestCount: 4_000_000_000,
      });
      await insertRequestLog(client, [counted, request(101)], { token: 'new', database });
      await client.command({ query: 'SYSTEM START MERGES request_log' });
      await waitFor('the projections', async () => (await rowsWithout(client)) === 0);
      await client.command({ query: 'OPTIMIZE TABLE request_log FINAL' });

      const [found] = await rowsOf(
        client,
        `SELECT toUInt32(count()) AS rows, toString(sum(request_count)) AS requests,
                toUInt32(countIf(request_count = 1)) AS single FROM request_log`,
      );
      assert.deepEqual(found, { rows: 102, requests: '4000000101', single: 101 });
      assert.deepEqual(await hourlySums(client, 'projections'), await hourlySums(client, 'rows'));
    });
  }

  test('reads no part without counted rows for what they add', async () => {
    const database = 'indexed';
    await migrateTelemetry(telemetry.engine, { database });
    await using client = createTelemetryClient(telemetry.engine, { database });
    await insertRequestLog(client, [request(0), request(1)], { token: 'one', database });
    await insertRequestLog(client, [request(2, { requestCount: 2 })], { token: 'two', database });
    const plan = await rowsOf<{ explain: string }>(
      client,
      'EXPLAIN indexes = 1 SELECT sum(request_count) FROM request_log WHERE request_count > 1',
    );
    const text = plan.map(({ explain }) => explain.trim()).join('\n');
    assert.match(text, /Name: counted_requests\n(?:.*\n)*?Parts: 1\/2/);
  });

  test('rejects a count of 0', async () => {
    const database = 'rejecting';
    await migrateTelemetry(telemetry.engine, { database });
    await using client = createTelemetryClient(telemetry.engine, { database });
    for (const requestCount of [0, -1, 1.5, 4_294_967_296])
      await assert.rejects(
        insertRequestLog(client, [request(0, { requestCount })], { token: 'a', database }),
        RangeError,
      );
  });
});
