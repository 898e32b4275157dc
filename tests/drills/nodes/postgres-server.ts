import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chown, mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openEmbeddedPostgres } from '@gatehouse/embedded';
import { type NoParameters, openDatabase, sql, statement } from '@gatehouse/store';
import { eventually } from '../../service-process.ts';
import { startFaultProxy } from '../fault-proxy.ts';

const PORT = 5_432;
const DEBIAN = '/usr/lib/postgresql';
const USER = 'gatehouse';
const run = promisify(execFile);
const answer = statement<NoParameters, { serverVersion: string }>('drill-version', sql`SHOW server_version`);

/** A PostgreSQL server that nodes reach by TCP: Debian's where it is installed, else the embedded one. */
export interface PostgresServer extends AsyncDisposable {
  readonly name: string;
  /** With every right. */
  readonly url: string;
}

export async function startPostgres(directory: string, host: string): Promise<PostgresServer> {
  const versions = await readdir(DEBIAN).catch(() => []);
  const newest = versions.toSorted((a, b) => Number(b) - Number(a))[0];
  return newest === undefined
    ? startEmbedded(directory, host)
    : startDebian(join(DEBIAN, newest, 'bin'), directory, host);
}

async function startEmbedded(directory: string, host: string): Promise<PostgresServer> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await openEmbeddedPostgres({ dataDir: join(directory, 'postgres') }));
  const { user, database, port, host: folder } = server.connection;
  stack.use(await startFaultProxy({ path: join(folder, `.s.PGSQL.${port}`) }, { host, port: PORT }));
  const open = stack.move();
  return {
    name: 'the embedded PostgreSQL',
    url: `postgres://${user}@${host}:${PORT}/${database}`,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

async function startDebian(programs: string, directory: string, host: string): Promise<PostgresServer> {
  // It refuses to be root.
  const ids = process.getuid?.() === 0 ? await idsOf('postgres') : undefined;
  const data = join(directory, 'postgres');
  await mkdir(data, { mode: 0o700 });
  if (ids !== undefined) await chown(data, ids.uid, ids.gid);
  const options = { ...ids, cwd: data };
  await run(
    join(programs, 'initdb'),
    ['-D', data, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'],
    options,
  );
  // It listens where only this machine can reach it.
  await appendFile(join(data, 'pg_hba.conf'), 'host all all all trust\n');
  // Processes are killed here, never the machine, so nothing needs to reach the disk.
  const child = spawn(
    join(programs, 'postgres'),
    [
      '-D',
      data,
      '-c',
      `listen_addresses=${host}`,
      '-c',
      `port=${PORT}`,
      '-k',
      data,
      '-c',
      'max_connections=100',
      '-c',
      'fsync=off',
    ],
    { ...options, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let told = '';
  child.stderr.on('data', (chunk: Buffer) => {
    told = (told + chunk).slice(-10_000);
  });
  const ended = once(child, 'exit');
  const stop = async () => {
    // Fast: connections end, nothing is waited for.
    child.kill('SIGINT');
    await ended;
  };
  const url = `postgres://${USER}@${host}:${PORT}/postgres`;
  let lastError: unknown;
  try {
    const version = await eventually(async () => {
      if (child.exitCode !== null) throw new Error(`PostgreSQL ended with ${child.exitCode}`);
      await using database = openDatabase({ url }, { poolSize: 1 });
      const row = await database.one(answer).catch((error: unknown) => {
        lastError = error;
      });
      return row?.serverVersion;
    });
    return { name: `PostgreSQL ${version}`, url, [Symbol.asyncDispose]: stop };
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
