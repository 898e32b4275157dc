import assert from 'node:assert/strict';
import { copyFile, mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  createTelemetryClient,
  MigrationError,
  migrateTelemetry,
  readTelemetryMigrations,
} from '@gatehouse/store';
import { parseSql } from '@gatehouse/store/clickhouse-sql';
import { hourlySums, rowsOf, rowsWithout } from '@gatehouse/store/testing';
import type { BackupSink } from '../backup-sink.ts';
import {
  openTestEngine,
  removeDirectory,
  type TestEngine,
  type TestEngineDatabase,
  waitFor,
} from '../testing/test-engine.ts';
import { freezeTelemetry, restoreTelemetry, type TelemetrySnapshot } from './backup.ts';

/** `count` requests in two months, of three keys. */
const insert = (from: number, count: number) => `INSERT INTO request_log
  (organization_id, timestamp, request_id, key_id, cost_micro_pkr, metadata)
  SELECT toUUID('3179124e-5bfd-4cff-b5b6-3a14f4cddb23'), toDateTime64('2026-10-31 23:59:00', 6, 'UTC') + number,
         toString(number), toUUID(concat('d50ade84-e664-4d69-8ead-7bb57bfb9be', toString(number % 3))), number,
         map('n', toString(number))
  FROM numbers(${from}, ${count})`;

const LOG = `SELECT count() AS rows, sum(cost_micro_pkr) AS cost, uniqExact(request_id) AS ids,
  sum(length(search_text)) AS texts, groupBitXor(cityHash64(*)) AS hash FROM request_log`;
const LAST_USES =
  'SELECT key_id, max(last_used_at) AS last FROM key_last_used GROUP BY key_id ORDER BY key_id';

function sinkInto(root: string): BackupSink {
  return {
    async copy(source, path) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await copyFile(source, join(root, path));
      return true;
    },
    write: (path, content) => writeFile(join(root, path), content),
    async directory(path) {
      await mkdir(join(root, path), { recursive: true });
    },
  };
}

describe('freezing and restoring the request log', () => {
  const stack = new AsyncDisposableStack();
  let telemetry: TestEngine;
  let db: TestEngineDatabase;
  let folder: string;
  before(async () => {
    telemetry = stack.use(await openTestEngine());
    db = await telemetry.createDatabase();
    folder = stack.adopt(await mkdtemp(join(tmpdir(), 'gatehouse-frozen-')), removeDirectory);
  });
  after(() => stack.disposeAsync());

  const shadow = () => readdir(join(telemetry.dataDir, 'clickhouse/data/shadow'));
  const frozenLabels = async () => (await shadow()).filter((name) => name.startsWith('gatehouse_backup_'));

  test('restores every row and the hourly rollup, and no later row', async () => {
    for (const from of [0, 100, 200]) await db.client.command({ query: insert(from, 100) });
    // A key whose requests are past retention.
    await db.client.command({
      query: `INSERT INTO key_last_used VALUES
        ('3179124e-5bfd-4cff-b5b6-3a14f4cddb23', 'd50ade84-e664-4d69-8ead-7bb57bfb9bef', '2025-01-01 00:00:00')`,
    });
    const [expected, uses] = [await rowsOf(db.client, LOG), await rowsOf(db.client, LAST_USES)];
    assert.equal(uses.length, 4);
    let snapshot: TelemetrySnapshot;
    {
      await using frozen = await freezeTelemetry(telemetry.engine, db.database);
      await db.client.command({ query: insert(300, 50) });
      // Merging replaces the parts that are linked.
      await db.client.command({ query: 'OPTIMIZE TABLE request_log FINAL' });
      assert.equal((await frozenLabels()).length, 1);
      snapshot = await frozen.copyTo(sinkInto(folder), 'clickhouse');
    }
    assert.deepEqual(await frozenLabels(), []);
    assert.deepEqual(
      snapshot.tables.map(({ name }) => name),
      ['key_last_used', 'request_log'],
    );
    assert.equal(snapshot.tables[1]?.rows, 300);

    await using other = await openTestEngine();
    await restoreTelemetry(other.engine, 'restored', join(folder, 'clickhouse'), snapshot);
    await using restored = createTelemetryClient(other.engine, { database: 'restored' });
    assert.deepEqual(await rowsOf(restored, LOG), expected);
    assert.deepEqual(await rowsOf(restored, LAST_USES), uses);
    assert.equal(await rowsWithout(restored), 0);
    assert.deepEqual(await hourlySums(restored, 'projections'), await hourlySums(restored, 'rows'));
    // The restored store works: the view is fed, and parts are merged.
    await restored.command({ query: insert(300, 50) });
    await restored.command({ query: 'OPTIMIZE TABLE request_log FINAL' });
    await restored.command({ query: 'OPTIMIZE TABLE key_last_used FINAL' });
    for (const query of [LOG, LAST_USES])
      assert.deepEqual(await rowsOf(restored, query), await rowsOf(db.client, query));
    assert.deepEqual(await hourlySums(restored, 'projections'), await hourlySums(restored, 'rows'));
    await assert.rejects(
      restoreTelemetry(other.engine, 'short', join(folder, 'clickhouse'), {
        ...snapshot,
        tables: snapshot.tables.slice(1).map((table) => ({ ...table, rows: table.rows + 1 })),
      }),
      /has 300 rows where the backup had 301/,
    );
  });

  test('copies the log of a store at version 1; migrating computes the rest', async () => {
    const migrations = readTelemetryMigrations();
    await migrateTelemetry(telemetry.engine, { database: 'old', migrations: migrations.slice(0, 1) });
    await using old = createTelemetryClient(telemetry.engine, { database: 'old' });
    for (const from of [0, 100]) await old.command({ query: insert(from, 100) });
    await using frozen = await freezeTelemetry(telemetry.engine, 'old');
    const snapshot = await frozen.copyTo(sinkInto(folder), 'old');
    assert.deepEqual(
      [snapshot.schema, snapshot.tables.map(({ name, rows }) => [name, rows])],
      [1, [['request_log', 200]]],
    );

    await using other = await openTestEngine();
    await restoreTelemetry(other.engine, 'restored', join(folder, 'old'), snapshot);
    await using restored = createTelemetryClient(other.engine, { database: 'restored' });
    assert.deepEqual(await rowsOf(restored, LOG), await rowsOf(old, LOG));
    const later = migrations.slice(1).map(({ version }) => version);
    assert.deepEqual(await migrateTelemetry(other.engine, { database: 'restored' }), later);
    const used = 'SELECT key_id, max(timestamp) AS last FROM request_log GROUP BY key_id ORDER BY key_id';
    assert.deepEqual(await rowsOf(restored, LAST_USES), await rowsOf(old, used));
    await waitFor('the projections', async () => (await rowsWithout(restored)) === 0);
    assert.deepEqual(await hourlySums(restored, 'projections'), await hourlySums(restored, 'rows'));
  });

  test('projections that were still being computed are computed after the restore', async () => {
    await using early = await telemetry.createDatabase();
    await early.client.command({ query: 'ALTER TABLE request_log DROP PROJECTION hourly_by_model' });
    await early.client.command({ query: insert(0, 100) });
    const [, rollups] = readTelemetryMigrations();
    const add = parseSql(rollups?.sql.replaceAll('{database}', early.database) ?? '').find(({ sql }) =>
      sql.includes('ADD PROJECTION IF NOT EXISTS hourly_by_model'),
    );
    await early.client.command({ query: add?.sql ?? '' });
    await early.client.command({ query: insert(100, 100) });
    assert.equal(await rowsWithout(early.client), 100);
    await using frozen = await freezeTelemetry(telemetry.engine, early.database);
    const snapshot = await frozen.copyTo(sinkInto(folder), 'early');
    await using other = await openTestEngine();
    await restoreTelemetry(other.engine, 'restored', join(folder, 'early'), snapshot);
    await using restored = createTelemetryClient(other.engine, { database: 'restored' });
    await waitFor('the projections', async () => (await rowsWithout(restored)) === 0);
    assert.deepEqual(await hourlySums(restored, 'projections'), await hourlySums(early.client, 'rows'));
  });

  test('the next backup removes the leftovers of a killed one', async () => {
    await freezeTelemetry(telemetry.engine, db.database);
    const [left] = await frozenLabels();
    await using _ = await freezeTelemetry(telemetry.engine, db.database);
    const now = await frozenLabels();
    assert.equal(now.length, 1);
    assert.notEqual(now[0], left);
  });

  test('a store without tables is an empty snapshot, and a newer schema is an error', async () => {
    await using frozen = await freezeTelemetry(telemetry.engine, 'nowhere');
    const snapshot = await frozen.copyTo(sinkInto(folder), 'nothing');
    assert.deepEqual([snapshot.schema, snapshot.tables], [0, []]);
    await restoreTelemetry(telemetry.engine, 'nothing', folder, snapshot);
    await assert.rejects(
      restoreTelemetry(telemetry.engine, 'newer', folder, { schema: 999, tables: [] }),
      MigrationError,
    );
  });
});
