import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { amRoot, createPostgresFixture, makeFolder, NOBODY, waitFor } from '../testing/postgres-fixture.ts';
import { openEmbeddedPostgres } from './index.ts';

const fixture = await createPostgresFixture();
after(() => fixture[Symbol.asyncDispose]());

// Shared by the tests that damage a file of a database, because initdb is slow.
const usedDataDir = fixture.dataDir();
before(async () => (await openEmbeddedPostgres({ dataDir: usedDataDir }))[Symbol.asyncDispose]());

function fails(dataDir: string, sentence: RegExp): Promise<void> {
  return assert.rejects(openEmbeddedPostgres({ dataDir }), {
    name: 'EmbeddedPostgresError',
    message: sentence,
  });
}

/** The error of opening while one file of the database has another content, or is missing. */
async function failsWithDamaged(file: string, content: string | undefined, sentence: RegExp): Promise<void> {
  const path = join(usedDataDir, 'postgres', file);
  const original = await readFile(path);
  await (content === undefined ? rm(path) : writeFile(path, content));
  try {
    await fails(usedDataDir, sentence);
  } finally {
    await writeFile(path, original);
  }
}

test('a database of another major version fails, naming both', async () => {
  await failsWithDamaged(
    'PG_VERSION',
    '16\n',
    /made by PostgreSQL 16, and the embedded server is PostgreSQL 18/,
  );
});

test('a directory with other files fails, and they are left alone', async () => {
  const dataDir = fixture.dataDir();
  await mkdir(join(dataDir, 'postgres'), { recursive: true });
  await writeFile(join(dataDir, 'postgres', 'letters.txt'), 'dear');
  await fails(dataDir, /holds something other than a PostgreSQL database/);
  assert.equal(await readFile(join(dataDir, 'postgres', 'letters.txt'), 'utf8'), 'dear');
});

test('a file at the path of the directory fails', async () => {
  const dataDir = fixture.dataDir();
  await mkdir(dataDir, { recursive: true });
  await writeFile(join(dataDir, 'postgres'), '');
  await fails(dataDir, /is not a directory/);
  await fails(join(dataDir, 'postgres'), /is not a directory/);
});

test('a database without its control file fails', async () => {
  await failsWithDamaged('global/pg_control', undefined, /is incomplete: global\/pg_control is missing/);
});

test("a server that does not start fails with the end of the server's own log", async () => {
  await failsWithDamaged(
    'postgresql.conf',
    'work_mem = plenty\n',
    /ended while starting \(exit status 1\)[\s\S]*invalid value for parameter "work_mem": "plenty"/,
  );
});

test("a data directory that cannot be written, or that is another user's, fails", {
  skip: !amRoot && 'needs root to create one',
}, async () => {
  const dataDir = await makeFolder(fixture.dataDir(), 0o755);
  await assert.rejects(
    fixture.startHolder({ dataDir, uid: NOBODY }).opened(),
    /cannot be written by uid 65534: EACCES/,
  );
  await makeFolder(join(dataDir, 'postgres'), 0o700);
  await makeFolder(dataDir, 0o777);
  await assert.rejects(
    fixture.startHolder({ dataDir, uid: NOBODY }).opened(),
    /belongs to another user \(uid 0\)/,
  );
});

test('what a killed initdb left is removed, and an empty directory counts as none', async () => {
  const dataDir = fixture.dataDir();
  await using killed = fixture.startHolder({ dataDir });
  const drafts = async () =>
    (await readdir(dataDir).catch(() => [])).filter((name) => /^postgres\.new-/.test(name));
  // PG_VERSION is written early and makes an incomplete directory look complete.
  await waitFor('initdb is at work', async () => {
    const [draft] = await drafts();
    if (!draft) return false;
    return (await readdir(join(dataDir, draft, 'cluster')).catch((): string[] => [])).includes('PG_VERSION');
  });
  await killed.kill();
  await makeFolder(join(dataDir, 'postgres.new-1-left'), 0o700);
  await makeFolder(join(dataDir, 'postgres'), 0o700);
  await using server = await openEmbeddedPostgres({ dataDir });
  assert.equal(server.role(), 'leader');
  assert.deepEqual(await drafts(), []);
});
