import assert from 'node:assert/strict';
import { cp, mkdir, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import pg from 'pg';
import type { BackupSink } from '../backup-sink.ts';
import { createPostgresFixture } from '../testing/postgres-fixture.ts';
import { ClusterBackup, ClusterBackupError } from './backup.ts';
import { type EmbeddedPostgres, openEmbeddedPostgres } from './index.ts';

const fixture = await createPostgresFixture();
after(() => fixture[Symbol.asyncDispose]());
const dataDir = fixture.dataDir();

/** A plain copy under a directory. */
function sinkInto(root: string): BackupSink {
  const made = async (path: string) => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    return join(root, path);
  };
  return {
    async copy(source, path) {
      const isThere = await stat(source).then(
        () => true,
        () => false,
      );
      if (isThere) await writeFile(await made(path), await readFile(source), { mode: 0o600 });
      return isThere;
    },
    async write(path, content) {
      await using file = await open(await made(path), 'wx', 0o600);
      await file.writeFile(content);
    },
    async directory(path) {
      await mkdir(await made(path), { recursive: true, mode: 0o700 });
    },
  };
}

/** A connection that ends with the test: left open, it would hide the test's failure behind that of the server's stop. */
async function connect({ connection }: EmbeddedPostgres): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ ...connection, ssl: false });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

test('a copy made during writes starts, with every commit up to its end and none after', async () => {
  const copy = fixture.dataDir();
  // More than a segment of the log; then little, so that a slow copy can keep up.
  const large = { rounds: 40, rows: 1000 };
  {
    await using server = await openEmbeddedPostgres({ dataDir });
    await using client = await connect(server);
    await client.query('CREATE TABLE noted (round int, filler text); CREATE TABLE gone (round int)');
    await using backup = await ClusterBackup.begin(await connect(server), sinkInto(copy), 'postgres');
    let isCopied = false;
    const copying = backup.copyFiles().finally(() => {
      isCopied = true;
    });
    // Files that come, go and grow.
    for (let round = 0; !isCopied || round < large.rounds; round += 1) {
      await client.query(`INSERT INTO noted SELECT $1, repeat('x', 700) FROM generate_series(1, $2)`, [
        round,
        round < large.rounds ? large.rows : 1,
      ]);
      await client.query(
        `DROP TABLE gone; CREATE TABLE gone (round int); INSERT INTO gone VALUES (${round})`,
      );
    }
    await copying;
    const { version, startLsn, stopLsn } = await backup.finish();
    assert.match(version, /^18\./);
    const { rows } = await client.query('SELECT $1::pg_lsn < $2::pg_lsn AS in_order', [startLsn, stopLsn]);
    assert.ok(rows[0].in_order);
    await client.query('INSERT INTO noted VALUES (-1)');
    await client.query('CREATE TABLE expected ()');
  }
  await using restored = await openEmbeddedPostgres({ dataDir: copy });
  await using client = await connect(restored);
  const { rows } = await client.query(
    `SELECT count(*)::int AS rows, count(DISTINCT round)::int AS rounds, min(round) AS first, max(round) AS last,
            (SELECT round FROM gone) AS gone, to_regclass('expected') AS expected FROM noted`,
  );
  const { rows: count, rounds, first, last, gone, expected } = rows[0];
  assert.ok(rounds >= large.rounds);
  assert.deepEqual(
    [count, first, last, gone, expected],
    [large.rounds * large.rows + rounds - large.rounds, 0, rounds - 1, rounds - 1, null],
  );
});

test('a backup whose log was recycled before it was copied fails with a message', async () => {
  await using server = await openEmbeddedPostgres({ dataDir });
  await using client = await connect(server);
  await using backup = await ClusterBackup.begin(
    await connect(server),
    sinkInto(fixture.dataDir()),
    'postgres',
  );
  const { rows } = await client.query('SELECT pg_walfile_name(pg_current_wal_lsn()) AS name');
  const path = join(server.dataDirectory, 'pg_wal', rows[0].name);
  // The server recycles a segment after two checkpoints, each in a segment of its own.
  for (let round = 0; round < 3; round += 1) {
    await client.query('INSERT INTO noted SELECT max(round) + 1 FROM noted');
    await client.query('SELECT pg_switch_wal()');
    await client.query('CHECKPOINT');
  }
  assert.ok(!(await readdir(dirname(path))).includes(rows[0].name));
  await assert.rejects(backup.copyFiles(), ClusterBackupError);
});

test('a cancelled backup leaves nothing in the server', async () => {
  const copy = fixture.dataDir();
  await using server = await openEmbeddedPostgres({ dataDir });
  {
    await using backup = await ClusterBackup.begin(await connect(server), sinkInto(copy), 'postgres');
    await backup.copyFiles();
  }
  await using again = await ClusterBackup.begin(await connect(server), sinkInto(`${copy}-2`), 'postgres');
  await again.copyFiles();
  await again.finish();
  await cp(join(`${copy}-2`, 'postgres'), join(`${copy}-3`, 'postgres'), { recursive: true });
  await rm(`${copy}-2`, { recursive: true });
  assert.ok((await readdir(server.dataDirectory)).includes('PG_VERSION'));
  assert.ok(!(await readdir(server.dataDirectory)).includes('backup_label'));
});
