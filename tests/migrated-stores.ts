import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openEmbeddedClickHouse, openEmbeddedPostgres } from '@gatehouse/embedded';
import { migratePostgres, migrateTelemetry, openDatabase } from '@gatehouse/store';
import { testRun, withTestLock } from '@gatehouse/store/testing';

const execute = promisify(execFile);
const STORES = ['postgres', 'clickhouse'];

/**
 * Puts both stores, empty and migrated, into a data directory that has none. Making them costs three seconds of processor time, so a test run
 * makes them once and copies them. Everything else (the master key, routes, the journal) is left to the first start. Outside a test
 * run nothing is done.
 */
export async function placeMigratedStores(dataDir: string): Promise<void> {
  const run = testRun();
  if (run === undefined || (await namesIn(dataDir)).length > 0) return;
  const made = join(run.directory, 'migrated');
  await withTestLock(() => makeOnce(made));
  // As a start makes it. Its parent is there.
  await mkdir(dataDir, { mode: 0o711 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  // Owners stay, as nothing of Node's copies them. Without a copy of the blocks where the file system can.
  await execute('cp', ['-a', '--reflink=auto', ...STORES.map((store) => join(made, store)), dataDir]);
}

async function makeOnce(directory: string): Promise<void> {
  if ((await namesIn(directory)).length > 0) return;
  const draft = `${directory}.${randomUUID()}`;
  {
    await using postgres = await openEmbeddedPostgres({ dataDir: draft });
    await using owner = openDatabase(postgres.connection, { poolSize: 1 });
    await migratePostgres(owner, { serviceMayLogIn: true });
    await using engine = await openEmbeddedClickHouse({ dataDir: draft });
    await migrateTelemetry({ socketPath: engine.socketPath });
  }
  await rename(draft, directory);
}

/** None when it is missing. */
async function namesIn(directory: string): Promise<readonly string[]> {
  return readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}
