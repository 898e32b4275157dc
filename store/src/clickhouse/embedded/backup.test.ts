import assert from 'node:assert/strict';
import { copyFile, mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { BackupSink } from '../../backup-sink.ts';
import { MigrationRefused } from '../../migration-refused.ts';
import {
  openTestEngine,
  removeDirectory,
  rowsOf,
  type TestEngine,
  type TestEngineDatabase,
} from '../testing.ts';
import { freezeTelemetry, restoreTelemetry, type TelemetryMoment } from './backup.ts';

/** `count` requests in two months, of three keys. */
const insert = (from: number, count: number) => `INSERT INTO request_log
  (organization_id, timestamp, request_id, key_id, cost_micro_pkr, metadata)
  SELECT toUUID('3179124e-5bfd-4cff-b5b6-3a14f4cddb23'), toDateTime64('2026-10-31 23:59:00', 6, 'UTC') + number,
         toString(number), toUUID(concat('d50ade84-e664-4d69-8ead-7bb57bfb9be', toString(number % 3))), number,
         map('n', toString(number))
  FROM numbers(${from}, ${count})`;

const LOG = `SELECT count() AS rows, sum(cost_micro_pkr) AS cost, uniqExact(request_id) AS ids,
  sum(length(search_text)) AS texts, groupBitXor(cityHash64(*)) AS hash FROM request_log`;
const USAGE = `SELECT key_id, max(last_used_at) AS last, sum(cost_micro_pkr) AS cost, sum(requests) AS n
  FROM key_usage GROUP BY key_id ORDER BY key_id`;

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

  test('what was there is there again, what came later is not, and the sums beside it are right', async () => {
    for (const from of [0, 100, 200]) await db.client.command({ query: insert(from, 100) });
    const [expected, usage] = [await rowsOf(db.client, LOG), await rowsOf(db.client, USAGE)];
    let moment: TelemetryMoment;
    {
      await using frozen = await freezeTelemetry(telemetry.engine, db.database);
      await db.client.command({ query: insert(300, 50) });
      // Merged meanwhile, which replaces the parts under the links.
      await db.client.command({ query: 'OPTIMIZE TABLE request_log FINAL' });
      assert.equal((await frozenLabels()).length, 1);
      moment = await frozen.copyTo(sinkInto(folder), 'clickhouse');
    }
    assert.deepEqual(await frozenLabels(), []);
    assert.deepEqual(
      moment.tables.map(({ name, rows }) => [name, rows]),
      [['request_log', 300]],
    );

    await using other = await openTestEngine();
    await restoreTelemetry(other.engine, 'restored', join(folder, 'clickhouse'), moment);
    const ask = (query: string) => rowsOf(other.client, query.replace(/FROM (\w+)/, 'FROM restored.$1'));
    assert.deepEqual(await ask(LOG), expected);
    assert.deepEqual(await ask(USAGE), usage);
    await assert.rejects(
      restoreTelemetry(other.engine, 'short', join(folder, 'clickhouse'), {
        ...moment,
        tables: moment.tables.map((table) => ({ ...table, rows: table.rows + 1 })),
      }),
      /has 300 rows where the backup had 301/,
    );
  });

  test('what a killed backup has left is removed by the next one', async () => {
    await freezeTelemetry(telemetry.engine, db.database);
    const [left] = await frozenLabels();
    await using _ = await freezeTelemetry(telemetry.engine, db.database);
    const now = await frozenLabels();
    assert.equal(now.length, 1);
    assert.notEqual(now[0], left);
  });

  test('a store without tables is an empty moment, and a newer schema is refused', async () => {
    await using frozen = await freezeTelemetry(telemetry.engine, 'nowhere');
    const moment = await frozen.copyTo(sinkInto(folder), 'nothing');
    assert.deepEqual([moment.schema, moment.tables], [0, []]);
    await restoreTelemetry(telemetry.engine, 'nothing', folder, moment);
    await assert.rejects(
      restoreTelemetry(telemetry.engine, 'newer', folder, { schema: 999, tables: [] }),
      MigrationRefused,
    );
  });
});
