import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import type { ClickHouseClient } from '@clickhouse/client';
import { useTestEngine, waitFor } from '@gatehouse/embedded/testing';
import { hourlySums, rowsWithout } from '../testing/hourly-sums.ts';
import { requestLogRow } from '../testing/request-log-row.ts';
import { rowsOf } from '../testing/rows-of.ts';
import { createTelemetryClient } from './client.ts';
import { insertBeforeVersion3 } from './insert-before-version-3.fixture.ts';
import { migrateTelemetry, readTelemetryMigrations, type TelemetryMigration } from './migrate.ts';
import type { RequestLogRow } from './request-log-columns.ts';
import { parseSql } from './sql-statement.ts';

// A store of the first version with rows, migrated to the second.

const [first, rollups] = readTelemetryMigrations() as [TelemetryMigration, TelemetryMigration];
const ORGANIZATIONS = [randomUUID(), randomUUID()];
const KEYS = [randomUUID(), randomUUID(), randomUUID(), null];
const START = BigInt(Date.UTC(2026, 9, 30)) * 1000n;

/** The n-th of requests an hour apart, of two organisations and three keys; every fourth has no key. */
function request(n: number): RequestLogRow {
  return requestLogRow({
    organizationId: ORGANIZATIONS[n % 2] ?? '',
    startedAtMicros: START + BigInt(n) * 3_600_000_001n,
    requestId: `request ${n}`,
    keyId: KEYS[n % 4] ?? null,
    model: `m/${n % 3}`,
    isStream: n % 2 === 0,
    totalMs: 100.001 + n,
    ttftMs: n % 5 === 0 ? null : 1.5,
    tokensGenerated: n % 7,
    totalTokens: 3 + (n % 7),
    costMicroPkr: BigInt(n),
  });
}

const telemetry = await useTestEngine();

describe('the migration to version 2', () => {
  /** A database of the first version. */
  async function createOld() {
    const database = `old_${randomUUID().replaceAll('-', '')}`;
    await migrateTelemetry(telemetry.engine, { database, migrations: [first] });
    const client = createTelemetryClient(telemetry.engine, { database });
    const insert = (from: number, count: number) =>
      insertBeforeVersion3(
        client,
        Array.from({ length: count }, (_, n) => request(from + n)),
        { token: `from ${from}`, database },
      );
    return { database, client, insert, [Symbol.asyncDispose]: () => client.close() };
  }

  const migrated = (database: string) =>
    migrateTelemetry(telemetry.engine, { database, migrations: [first, rollups] });

  const materialised = (client: ClickHouseClient) =>
    waitFor('the projections', async () => {
      const open = await rowsOf(
        client,
        'SELECT 1 FROM system.mutations WHERE database = currentDatabase() AND NOT is_done LIMIT 1',
      );
      return open.length === 0;
    });

  async function assertWhole(client: ClickHouseClient, count: number): Promise<void> {
    await materialised(client);
    assert.equal(await rowsWithout(client), 0);
    const sums = await hourlySums(client, 'rows');
    assert.equal(sums[0]?.length, count);
    assert.deepEqual(await hourlySums(client, 'projections'), sums);
    const uses = (source: string, time: string) =>
      rowsOf(
        client,
        `SELECT organization_id, key_id, max(${time}) AS last FROM ${source} WHERE key_id IS NOT NULL
         GROUP BY organization_id, key_id ORDER BY ALL`,
      );
    assert.deepEqual(
      await uses('key_last_used', 'last_used_at'),
      await uses('request_log', 'timestamp'),
      'the last uses',
    );
    const tables = await rowsOf<{ name: string }>(
      client,
      'SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name',
    );
    assert.deepEqual(
      tables.map(({ name }) => name),
      ['key_last_used', 'key_last_used_from_request_log', 'request_log', 'schema_migrations'],
    );
  }

  test('adds old rows to the rollup and keys to key_last_used, and queries are right meanwhile', async () => {
    await using old = await createOld();
    await old.insert(0, 60);
    await old.insert(60, 60);
    // What is materialised in the background does not begin.
    await old.client.command({ query: 'SYSTEM STOP MERGES request_log' });
    assert.deepEqual(await migrated(old.database), [2]);
    await old.insert(120, 20);
    assert.equal(await rowsWithout(old.client), 120);
    assert.deepEqual(await hourlySums(old.client, 'projections'), await hourlySums(old.client, 'rows'));
    await old.client.command({ query: 'SYSTEM START MERGES request_log' });
    await assertWhole(old.client, 140);
  });

  test('finishes what was stopped after any of its statements', async () => {
    const all = parseSql(rollups.sql).length;
    for (let done = 0; done <= all; done++) {
      await using old = await createOld();
      await old.insert(0, 12);
      const statements = parseSql(rollups.sql.replaceAll('{database}', old.database));
      for (const { sql } of statements.slice(0, done)) await old.client.command({ query: sql });
      await old.insert(12, 12);
      assert.deepEqual(await migrated(old.database), [2]);
      await assertWhole(old.client, 24);
    }
  });

  test('is made again on tables that were put back without their history and without the view', async () => {
    await using old = await createOld();
    await old.insert(0, 24);
    await migrated(old.database);
    for (const table of ['schema_migrations', 'key_last_used_from_request_log'])
      await old.client.command({ query: `DROP TABLE ${table} SYNC` });
    assert.deepEqual(await migrated(old.database), [1, 2]);
    await old.insert(24, 12);
    await assertWhole(old.client, 36);
  });

  test('loses nothing of what is written meanwhile, also when several processes do it at once', async () => {
    await using old = await createOld();
    let sent = 0;
    let isOver = false;
    const writing = (async () => {
      while (!isOver || sent < 5) {
        // The view of the first version is dropped during an insert, which then fails and is sent again.
        const taken = await old.insert(sent * 10, 10).then(
          () => true,
          () => false,
        );
        if (taken) sent += 1;
      }
    })();
    await Promise.all([migrated(old.database), migrated(old.database), migrated(old.database)]);
    isOver = true;
    await writing;
    await assertWhole(old.client, sent * 10);
  });
});
