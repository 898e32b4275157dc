// What the tests of the embedded server share: a ground to work on, processes to kill, and waiting for facts.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { EmbeddedPostgres } from '../postgres/index.ts';
import { findNativeFolder } from '../postgres/native-binaries.ts';
import { preparePlace } from '../postgres/place.ts';
import { findServerProcesses, isServerOn } from '../postgres/processes.ts';
import { retireServer } from '../postgres/server-process.ts';
import type { HolderOrder, HolderReport } from './postgres-holder.fixture.ts';

export const amRoot = process.geteuid?.() === 0;
export const NOBODY = 65534;

/** Waits for a fact, and fails when it does not come about. */
export async function until<T>(
  what: string,
  fact: () => T | undefined | false | Promise<T | undefined | false>,
  limitMs = 60_000,
): Promise<T> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const value = await fact();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > deadline) throw new Error(`waited ${limitMs} ms in vain: ${what}`);
    await sleep(10);
  }
}

/** A process that holds a server, see postgres-holder.fixture.ts. Disposing kills it. */
export interface Holder extends AsyncDisposable {
  readonly pid: number;
  readonly reports: readonly HolderReport[];
  /** Resolves once it has opened the server; rejects with its words when it was refused. */
  opened(): Promise<NonNullable<HolderReport['opened']>>;
  acknowledged(): string[];
  /** SIGKILL, and waits until it is gone and all it said has arrived. */
  kill(): Promise<void>;
  /** Lets it end in order; resolves with its exit status. */
  release(): Promise<number | null>;
}

export interface Ground extends AsyncDisposable {
  /** A data directory that does not exist yet. */
  dataDir(...path: string[]): string;
  hold(order: HolderOrder): Holder;
  /** A copy of PostgreSQL's programs that every user can reach, wherever this project lies. Made once. */
  openNativeFolder(): Promise<string>;
}

/** A temporary folder that others may enter, as they may a server's. Disposing ends every server in it. */
export async function makeGround(): Promise<Ground> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'embedded-')));
  await chmod(folder, 0o755);
  const holders: { readonly child: ChildProcess; readonly closed: Promise<unknown> }[] = [];
  const dataDirs = new Set<string>();
  let count = 0;
  let openNative: Promise<string> | undefined;
  return {
    dataDir(...path) {
      count += 1;
      const dataDir = join(folder, `ground${count}`, ...path);
      dataDirs.add(dataDir);
      return dataDir;
    },
    openNativeFolder() {
      openNative ??= copyNativeFolder(join(folder, 'programs', 'native'));
      return openNative;
    },
    hold(order) {
      const child = spawnHolder(order);
      const closed = once(child, 'close');
      holders.push({ child, closed });
      return follow(child, closed);
    },
    async [Symbol.asyncDispose]() {
      for (const { child } of holders) child.kill('SIGKILL');
      await Promise.all(holders.map(({ closed }) => closed));
      for (const dataDir of dataDirs) {
        // In order: a killed server leaves shared memory behind, for the next start on a directory that is gone.
        const place = await preparePlace(dataDir);
        for (const left of await serverProcesses(dataDir)) {
          if (isServerOn(place.clusterDir, left.pid)) await retireServer(left, place);
        }
        await assertNoServer(dataDir);
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Modes are made what an installation for all users has: the umask of the installing user may have been another. */
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

function spawnHolder(order: HolderOrder): ChildProcess {
  const program = fileURLToPath(new URL('postgres-holder.fixture.ts', import.meta.url));
  const args = [program, JSON.stringify(order)];
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
      until('the holder has opened the server', () => {
        const refused = reports.find((report) => report.refused)?.refused;
        if (refused) throw new Error(refused);
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
  return findServerProcesses(await preparePlace(dataDir));
}

export async function assertNoServer(dataDir: string): Promise<void> {
  await until(`no server on ${dataDir}`, async () => (await serverProcesses(dataDir)).length === 0);
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

/** Commits a row that later has to be there. */
export async function keep(server: EmbeddedPostgres, row: string): Promise<void> {
  await query(server, 'CREATE TABLE IF NOT EXISTS drill (row text PRIMARY KEY)');
  await query(server, 'INSERT INTO drill (row) VALUES ($1)', [row]);
}

/** Whether a row is there, asked until the server answers. */
export function isKept(server: EmbeddedPostgres, row: string): Promise<boolean> {
  const ask = () => query(server, 'SELECT FROM drill WHERE row = $1', [row]);
  return until('an answer', () => ask().catch(() => undefined)).then((rows) => rows.length === 1);
}

export async function makeFolder(path: string, mode: number): Promise<string> {
  await mkdir(path, { recursive: true });
  await chmod(path, mode);
  return path;
}
