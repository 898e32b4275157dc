import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { amRoot, makeFolder, makeGround, NOBODY, until } from '../testing/postgres-server.ts';
import { openEmbeddedPostgres } from './index.ts';

const ground = await makeGround();
after(() => ground[Symbol.asyncDispose]());

// One for all tests that spoil a file of a database, since initdb is slow.
const usedDataDir = ground.dataDir();
before(async () => (await openEmbeddedPostgres({ dataDir: usedDataDir }))[Symbol.asyncDispose]());

function refuses(dataDir: string, sentence: RegExp): Promise<void> {
  return assert.rejects(openEmbeddedPostgres({ dataDir }), {
    name: 'EmbeddedPostgresRefused',
    message: sentence,
  });
}

/** What opening says while one file of the database has another content, or is missing. */
async function refusesSpoilt(file: string, content: string | undefined, sentence: RegExp): Promise<void> {
  const path = join(usedDataDir, 'postgres', file);
  const original = await readFile(path);
  await (content === undefined ? rm(path) : writeFile(path, content));
  try {
    await refuses(usedDataDir, sentence);
  } finally {
    await writeFile(path, original);
  }
}

test('a database of another major version, naming both', async () => {
  await refusesSpoilt(
    'PG_VERSION',
    '16\n',
    /made by PostgreSQL 16, and the embedded server is PostgreSQL 18/,
  );
});

test('a directory that holds something else, which it leaves alone', async () => {
  const dataDir = ground.dataDir();
  await mkdir(join(dataDir, 'postgres'), { recursive: true });
  await writeFile(join(dataDir, 'postgres', 'letters.txt'), 'dear');
  await refuses(dataDir, /holds something other than a PostgreSQL database/);
  assert.equal(await readFile(join(dataDir, 'postgres', 'letters.txt'), 'utf8'), 'dear');
});

test('a file in the place of the directory', async () => {
  const dataDir = ground.dataDir();
  await mkdir(dataDir, { recursive: true });
  await writeFile(join(dataDir, 'postgres'), '');
  await refuses(dataDir, /is not a directory/);
  await refuses(join(dataDir, 'postgres'), /is not a directory/);
});

test('a database that lacks its control file', async () => {
  await refusesSpoilt('global/pg_control', undefined, /is incomplete: global\/pg_control is missing/);
});

test("a server that will not start, with the end of the server's own log", async () => {
  await refusesSpoilt(
    'postgresql.conf',
    'work_mem = plenty\n',
    /ended while starting \(exit status 1\)[\s\S]*invalid value for parameter "work_mem": "plenty"/,
  );
});

test("a data directory that cannot be written, or that is another user's", {
  skip: !amRoot && 'needs root to make one',
}, async () => {
  const dataDir = await makeFolder(ground.dataDir(), 0o755);
  await assert.rejects(
    ground.hold({ dataDir, uid: NOBODY }).opened(),
    /cannot be written by uid 65534: EACCES/,
  );
  await makeFolder(join(dataDir, 'postgres'), 0o700);
  await makeFolder(dataDir, 0o777);
  await assert.rejects(ground.hold({ dataDir, uid: NOBODY }).opened(), /belongs to another user \(uid 0\)/);
});

test('nothing: what a killed initdb left is cleared away, and an empty directory is as good as none', async () => {
  const dataDir = ground.dataDir();
  await using killed = ground.hold({ dataDir });
  const drafts = async () =>
    (await readdir(dataDir).catch(() => [])).filter((name) => /^postgres\.new-/.test(name));
  // PG_VERSION comes early, and is what makes a half-made directory look finished.
  await until('initdb is at work', async () => {
    const [draft] = await drafts();
    return draft && (await readdir(join(dataDir, draft))).includes('PG_VERSION');
  });
  await killed.kill();
  await makeFolder(join(dataDir, 'postgres.new-1-left'), 0o700);
  await makeFolder(join(dataDir, 'postgres'), 0o700);
  await using server = await openEmbeddedPostgres({ dataDir });
  assert.equal(server.role(), 'owner');
  assert.deepEqual(await drafts(), []);
});
