import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chown, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type NoParameters, openDatabase, sql, statement } from '@gatehouse/store';
import { eventually } from './service-process.ts';

const USER = 'gatehouse';
const TOLD_CHARACTERS = 10_000;
const run = promisify(execFile);
const showVersion = statement<NoParameters, { serverVersion: string }>(
  'test-server-version',
  sql`SHOW server_version`,
);

/** A PostgreSQL server of any version, without a password, for as long as this is open. */
export interface PostgresProgram extends AsyncDisposable {
  /** As the server says it: `15.18`. */
  readonly version: string;
  /** With every right. */
  readonly url: string;
  readonly user: string;
}

export interface PostgresProgramOptions {
  /** The folder with `postgres` and `initdb`, which the user that they run as can read. */
  readonly programs: string;
  /** Does not exist yet. */
  readonly data: string;
  /** An address of this machine that no other machine reaches. */
  readonly host: string;
  readonly port: number;
  readonly settings?: Readonly<Record<string, string>>;
  /** Added to the environment of the programs. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Makes a database directory and starts a server on it. Processes are killed in tests, never the machine, so nothing reaches the disk. */
export async function startPostgresProgram({
  programs,
  data,
  host,
  port,
  settings = {},
  env = {},
}: PostgresProgramOptions): Promise<PostgresProgram> {
  // It refuses to be root.
  const ids = process.getuid?.() === 0 ? await idsOf('postgres') : undefined;
  await mkdir(data, { mode: 0o700 });
  if (ids !== undefined) await chown(data, ids.uid, ids.gid);
  const options = { ...ids, cwd: data, env: { ...process.env, LC_ALL: 'C', ...env } };
  await run(
    join(programs, 'initdb'),
    ['-D', data, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'],
    options,
  );
  await appendFile(join(data, 'pg_hba.conf'), 'host all all all trust\n');
  const all = { listen_addresses: host, port: `${port}`, fsync: 'off', ...settings };
  const child = spawn(
    join(programs, 'postgres'),
    ['-D', data, '-k', data, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { ...options, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let told = '';
  child.stderr.on('data', (chunk: Buffer) => {
    told = (told + chunk).slice(-TOLD_CHARACTERS);
  });
  const ended = once(child, 'exit');
  const stop = async () => {
    // Fast: connections end, nothing is waited for.
    child.kill('SIGINT');
    await ended;
  };
  const url = `postgres://${USER}@${host}:${port}/postgres`;
  let lastError: unknown;
  try {
    const version = await eventually(async () => {
      if (child.exitCode !== null) throw new Error(`PostgreSQL ended with ${child.exitCode}`);
      await using database = openDatabase({ url }, { poolSize: 1 });
      const row = await database.one(showVersion).catch((error: unknown) => {
        lastError = error;
      });
      return row?.serverVersion;
    });
    return { version, url, user: USER, [Symbol.asyncDispose]: stop };
  } catch (error) {
    if (child.exitCode === null) await stop();
    throw new Error(`${String(error)}; ${String(lastError)}; ${told}`, { cause: lastError });
  }
}

async function idsOf(user: string): Promise<{ readonly uid: number; readonly gid: number }> {
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const found = users.find(([name]) => name === user) ?? users.find(([name]) => name === 'nobody');
  return { uid: Number(found?.[2]), gid: Number(found?.[3]) };
}
