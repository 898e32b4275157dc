import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chown, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@gatehouse/http/testing';
import { type NoParameters, openDatabase, type Statement, sql, statement } from '@gatehouse/store';
import { eventually } from '../../service-process.ts';

const DEBIAN = '/usr/lib/postgresql';
const USER = 'gatehouse';
const run = promisify(execFile);

const showVersion = statement<NoParameters, { serverVersion: string }>(
  'drill-pair-version',
  sql`SHOW server_version`,
);
const waitForStandby = statement<NoParameters>(
  'drill-pair-synchronous',
  sql`ALTER SYSTEM SET synchronous_standby_names = '*'`,
);
const waitForNone = statement<NoParameters>(
  'drill-pair-alone',
  sql`ALTER SYSTEM SET synchronous_standby_names = ''`,
);
const reload = statement<NoParameters>('drill-pair-reload', sql`SELECT pg_reload_conf()`);
const synchronous = statement<NoParameters, { count: bigint }>(
  'drill-pair-replication',
  sql`SELECT count(*) AS count FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming'`,
);

interface Server {
  readonly port: number;
  readonly data: string;
  process: ChildProcess | undefined;
}

/** A primary and its synchronous standby: a commit is acknowledged when both have it. */
export interface PostgresPair extends AsyncDisposable {
  readonly version: string;
  /** Names both, as managed services do. */
  readonly url: string;
  /** The port of the server that is the primary now, on this machine. */
  primaryPort(): number;
  /** Kills the primary without warning. */
  killPrimary(): Promise<void>;
  /** Makes the standby the primary, alone. */
  promote(): Promise<void>;
  /** Makes a new standby in place of the server that was killed, from a copy of the primary. */
  addStandby(): Promise<void>;
}

/** The folder of PostgreSQL's programs; undefined where Debian's are not installed, which alone have pg_basebackup. */
export async function findPrograms(): Promise<string | undefined> {
  const versions = await readdir(DEBIAN).catch(() => []);
  const newest = versions.toSorted((a, b) => Number(b) - Number(a))[0];
  return newest === undefined ? undefined : join(DEBIAN, newest, 'bin');
}

export async function startPair(programs: string, directory: string): Promise<PostgresPair> {
  // PostgreSQL refuses to run as root.
  const ids = process.getuid?.() === 0 ? await idsOf('postgres') : undefined;
  if (ids !== undefined) await chown(directory, ids.uid, ids.gid);
  const program = (name: string, ...args: string[]) =>
    run(join(programs, name), args, { ...ids, cwd: directory });
  const servers: Server[] = [];
  for (const name of ['a', 'b'])
    servers.push({ port: await freePort(), data: join(directory, name), process: undefined });
  let [primary, standby] = servers as [Server, Server];
  const urlOf = ({ port }: Server) => `postgres://${USER}@127.0.0.1:${port}/postgres`;

  const ask = async <Row>(server: Server, query: Statement<NoParameters, Row>): Promise<Row | undefined> => {
    await using database = openDatabase({ url: urlOf(server) }, { poolSize: 1 });
    // Awaited here: a rejection while the database closes would be nobody's.
    return await database.one(query);
  };
  const start = async (server: Server) => {
    const options = { listen_addresses: '127.0.0.1', port: server.port, fsync: 'off', max_connections: 100 };
    const settings = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    server.process = spawn(join(programs, 'postgres'), ['-D', server.data, '-k', server.data, ...settings], {
      ...ids,
      cwd: server.data,
      stdio: 'ignore',
    });
    await eventually(() => ask(server, showVersion).catch(() => undefined));
  };
  const end = async (server: Server, signal: NodeJS.Signals) => {
    const { process: running } = server;
    server.process = undefined;
    if (running === undefined || running.exitCode !== null) return;
    const ended = once(running, 'exit');
    running.kill(signal);
    await ended;
  };
  const addStandby = async () => {
    await rm(standby.data, { recursive: true, force: true });
    await program(
      'pg_basebackup',
      '-d',
      urlOf(primary),
      '-D',
      standby.data,
      '-R',
      '-X',
      'stream',
      '-c',
      'fast',
      '--no-sync',
    );
    await start(standby);
    await ask(primary, waitForStandby);
    await ask(primary, reload);
    await eventually(async () => (await ask(primary, synchronous))?.count === 1n || undefined);
  };

  await using stack = new AsyncDisposableStack();
  stack.defer(async () => {
    for (const server of servers) await end(server, 'SIGQUIT');
  });
  await mkdir(primary.data, { mode: 0o700 });
  if (ids !== undefined) await chown(primary.data, ids.uid, ids.gid);
  await program(
    'initdb',
    '-D',
    primary.data,
    '-U',
    USER,
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
    '--no-sync',
  );
  await appendFile(join(primary.data, 'pg_hba.conf'), 'host replication all 127.0.0.1/32 trust\n');
  await start(primary);
  const version = (await ask(primary, showVersion))?.serverVersion ?? '';
  await addStandby();
  const hosts = servers.map(({ port }) => `127.0.0.1:${port}`).join();
  const open = stack.move();
  return {
    version,
    url: `postgres://${USER}@${hosts}/postgres?target_session_attrs=read-write`,
    primaryPort: () => primary.port,
    killPrimary: () => end(primary, 'SIGKILL'),
    async promote() {
      await program('pg_ctl', 'promote', '-w', '-D', standby.data);
      [primary, standby] = [standby, primary];
      // Until then, commits wait for a standby that there is not.
      await ask(primary, waitForNone);
      await ask(primary, reload);
    },
    addStandby,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

async function idsOf(user: string): Promise<{ readonly uid: number; readonly gid: number }> {
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const found = users.find(([name]) => name === user) ?? users.find(([name]) => name === 'nobody');
  return { uid: Number(found?.[2]), gid: Number(found?.[3]) };
}
