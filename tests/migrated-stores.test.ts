import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openEmbeddedClickHouse, openEmbeddedPostgres } from '@gatehouse/embedded';
import { duePostgresMigrations, dueTelemetryMigrations, openDatabase } from '@gatehouse/store';
import { runSql } from '@gatehouse/store/testing';
import { placeMigratedStores } from './migrated-stores.ts';

describe('migrated stores for a data directory', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-placed-'));
  });
  after(() => rm(directory, { recursive: true }));

  it('lack nothing, hold nothing, and are all that is there', async () => {
    const dataDir = join(directory, 'data');
    await placeMigratedStores(dataDir);
    assert.deepEqual((await readdir(dataDir)).sort(), ['clickhouse', 'postgres']);
    await using postgres = await openEmbeddedPostgres({ dataDir });
    await using owner = openDatabase(postgres.connection, { poolSize: 1 });
    assert.deepEqual(await duePostgresMigrations(owner), []);
    const counts = await runSql<{ rows: bigint }>(owner)`
      SELECT (SELECT count(*) FROM routes) + (SELECT count(*) FROM organizations) AS rows`;
    assert.equal(Number(counts[0]?.rows), 0);
    await using engine = await openEmbeddedClickHouse({ dataDir });
    assert.deepEqual(await dueTelemetryMigrations({ socketPath: engine.socketPath }), []);
  });

  it('are not put beside anything, and leave the mode of the directory', async () => {
    const used = join(directory, 'used');
    await mkdir(used);
    await writeFile(join(used, 'master.key'), '');
    await placeMigratedStores(used);
    assert.deepEqual(await readdir(used), ['master.key']);
    const empty = join(directory, 'empty');
    await mkdir(empty);
    await chmod(empty, 0o700);
    await placeMigratedStores(empty);
    assert.equal((await readdir(empty)).length, 2);
    assert.equal((await stat(empty)).mode & 0o777, 0o700);
  });
});
