// What the tests of the embedded server share: data directories, processes to kill, waiting for a condition.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { prepareClusterPaths } from '../postgres/cluster-paths.ts';
import type { EmbeddedPostgres } from '../postgres/index.ts';
import { findNativeFolder } from '../postgres/native-binaries.ts';
import { findServerProcesses, isServerOn } from '../postgres/processes.ts';
import { shutDownServer } from '../postgres/server-process.ts';
import type { HolderOptions, HolderReport } from './postgres-holder.fixture.ts';

export const amRoot = process.geteuid?.() === 0;
export const NOBODY = 65534;

/** Waits until `condition` returns a value. Throws, naming it, after the time limit. */
export async function waitFor<T>(
  what: string,
  condition: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = 60_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await sleep(10);
  }
}

/** A process that has the server open, see postgres-holder.fixture.ts. Disposing kills it. */
export interface Holder extends AsyncDisposable {
  readonly pid: number;
  readonly reports: readonly HolderReport[];
  /** Resolves once it has opened the server; rejects with its error message if it could not. */
  opened(): Promise<NonNullable<HolderReport['opened']>>;
  acknowledged(): string[];
  /** Sends SIGKILL, and waits until it has ended and all its reports have arrived. */
  kill(): Promise<void>;
  /** Lets it close the server and end; resolves with its exit status. */
  release(): Promise<number | null>;
}

export interface PostgresFixture extends AsyncDisposable {
  /** A data directory that does not exist yet. */
  dataDir(...path: string[]): string;
  startHolder(options: HolderOptions): Holder;
  /** A copy of PostgreSQL's programs that every user can reach, wherever this project is installed. Made once. */
  openNativeFolder(): Promise<string>;
}

/** A temporary folder that other users may enter. Disposing ends every server in it. */
export async function createPostgresFixture(): Promise<PostgresFixture> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'embedded-')));
  await chmod(folder, 0o755);
  const holders: { readonly child: ChildProcess; readonly closed: Promise<unknown> }[] = [];
  const dataDirs = new Set<string>();
  let count = 0;
  let openNative: Promise<string> | undefined;
  return {
    dataDir(...path) {
      count += 1;
      const dataDir = join(folder, `fixture${count}`, ...path);
      dataDirs.add(dataDir);
      return dataDir;
    },
    openNativeFolder() {
      openNative ??= copyNativeFolder(join(folder, 'programs', 'native'));
      return openNative;
    },
    startHolder(options) {
      const child = spawnHolder(options);
      const closed = once(child, 'close');
      holders.push({ child, closed });
      return follow(child, closed);
    },
    async [Symbol.asyncDispose]() {
      for (const { child } of holders) child.kill('SIGKILL');
      await Promise.all(holders.map(({ closed }) => closed));
      for (const dataDir of dataDirs) {
        // A fast shutdown: a killed server leaves shared memory behind.
        const paths = await prepareClusterPaths(dataDir);
        for (const left of await serverProcesses(dataDir)) {
          if (isServerOn(paths.clusterDir, left.pid)) await shutDownServer(left, paths);
        }
        await assertNoServer(dataDir);
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Sets the modes of an installation for all users: the installing user's umask may have been stricter. */
async function copyNativeFolder(to: string): Promise<string> {
  await mkdir(dirname(to), { recursive: true });
  await cp(findNativeFolder(), to, { recursive: true, verbatimSymlinks: true });
  await chmod(dirname(to), 0o755);
  for (const entry of await readdir(to, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isSymbolicLink())
      await chmod(path, (await stat(path)).mode | (entry.isDirectory() ? 0o755 : 0o555));
  }
  await chmod(to, 0o755);
  return to;
}

function spawnHolder(options: HolderOptions): ChildProcess {
  const program = fileURLToPath(new URL('postgres-holder.fixture.ts', import.meta.url));
  const args = [program, JSON.stringify(options)];
  return spawn(process.execPath, args, { cwd: '/', env: {}, stdio: ['pipe', 'pipe', 'inherit'] });
}

function follow(child: ChildProcess, closed: Promise<unknown>): Holder {
  const reports: HolderReport[] = [];
  if (!child.stdout || child.pid === undefined) throw new Error('the holder could not be started');
  createInterface({ input: child.stdout }).on('line', (line) => {
    reports.push(JSON.parse(line) as HolderReport);
  });
  const kill = async () => {
    child.kill('SIGKILL');
    await closed;
  };
  return {
    pid: child.pid,
    reports,
    opened: () =>
      waitFor('the holder has opened the server', () => {
        const error = reports.find((report) => report.error)?.error;
        if (error) throw new Error(error);
        return reports.find((report) => report.opened)?.opened;
      }),
    acknowledged: () => reports.flatMap((report) => report.acknowledged ?? []),
    kill,
    [Symbol.asyncDispose]: kill,
    async release() {
      child.stdin?.end();
      await closed;
      return child.exitCode;
    },
  };
}

export async function serverProcesses(dataDir: string) {
  return findServerProcesses(await prepareClusterPaths(dataDir));
}

export async function assertNoServer(dataDir: string): Promise<void> {
  await waitFor(`no server on ${dataDir}`, async () => (await serverProcesses(dataDir)).length === 0);
}

/** Runs one statement on a connection of its own. */
export async function query(server: EmbeddedPostgres, text: string, values: unknown[] = []) {
  const client = new pg.Client({ ...server.connection });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(text, values)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Commits a row, which hasRow looks for later. */
export async function insertRow(server: EmbeddedPostgres, row: string): Promise<void> {
  await query(server, 'CREATE TABLE IF NOT EXISTS kept (row text PRIMARY KEY)');
  await query(server, 'INSERT INTO kept (row) VALUES ($1)', [row]);
}

/** True if the row exists. Retries until the server answers. */
export function hasRow(server: EmbeddedPostgres, row: string): Promise<boolean> {
  const select = () => query(server, 'SELECT FROM kept WHERE row = $1', [row]);
  return waitFor('an answer', () => select().catch(() => undefined)).then((rows) => rows.length === 1);
}

export async function makeFolder(path: string, mode: number): Promise<string> {
  await mkdir(path, { recursive: true });
  await chmod(path, mode);
  return path;
}
