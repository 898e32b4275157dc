import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@gatehouse/http/testing';
import { openDatabase, requirePooledSession, SERVICE_ROLE, SERVICE_TIMEOUTS } from '@gatehouse/store';
import { eventually } from './service-process.ts';

const NOBODY = 65_534;
const PASSWORD = 'of-the-pooler';

export interface PooledServer {
  readonly host: string;
  readonly port: number;
  readonly database: string;
}

/** PgBouncer with the configuration of docs/operations.md, in front of a server that trusts it. */
export interface PgBouncer extends AsyncDisposable {
  readonly url: string;
  /** Names another server in its configuration, and makes it read that again. */
  pointTo(server: PooledServer): Promise<void>;
}

/** Why it cannot run here; undefined where it can. */
export function whyNoPgBouncer(): string | undefined {
  return spawnSync('pgbouncer', ['--version']).status === 0 ? undefined : 'pgbouncer is not installed';
}

/** Starts it for one login. `lines` replace those of the page that begin with the same words. */
export async function startPgBouncer(
  first: PooledServer,
  user: string,
  lines: Readonly<Record<string, string>> = {},
): Promise<PgBouncer> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-pgbouncer-'));
  stack.defer(() => rm(directory, { recursive: true }));
  await chmod(directory, 0o755);
  const page = await readFile(join(import.meta.dirname, '../docs/operations.md'), 'utf8');
  const documented = /^```ini\n([\s\S]*?)^```/m.exec(page)?.[1];
  if (documented === undefined) throw new Error('docs/operations.md has no pgbouncer.ini');
  const port = await freePort();
  const [file, users] = [join(directory, 'pgbouncer.ini'), join(directory, 'userlist.txt')];
  const write = async ({ host, port: serverPort, database }: PooledServer) => {
    const replaced = {
      'gatehouse =': `${database} = host=${host} port=${serverPort} dbname=${database}`,
      'listen_addr =': 'listen_addr = 127.0.0.1',
      'listen_port =': `listen_port = ${port}`,
      'auth_file =': `auth_file = ${users}`,
      ...lines,
    };
    const text = documented.split('\n').map((line) => {
      const found = Object.entries(replaced).find(([start]) => line.startsWith(start));
      return found === undefined ? line : found[1];
    });
    await writeFile(file, text.join('\n'));
  };
  await write(first);
  await writeFile(users, `"${user}" "${PASSWORD}"\n`);
  const ids = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const child: ChildProcess = spawn('pgbouncer', [file], { stdio: 'ignore', ...ids });
  stack.defer(async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  });
  const url = `postgres://${user}:${PASSWORD}@127.0.0.1:${port}/${first.database}`;
  await eventually(async () => (await answersPooled(url)) || undefined);
  const open = stack.move();
  return {
    url,
    async pointTo(server) {
      await write(server);
      child.kill('SIGHUP');
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** True if PostgreSQL answers through the pooler. */
export async function answersPooled(url: string): Promise<boolean> {
  await using database = openDatabase({ url }, { isPooled: true, poolSize: 1 });
  return await requirePooledSession(database, SERVICE_ROLE, SERVICE_TIMEOUTS).then(
    () => true,
    (error: Error) => error.name === 'MigrationError',
  );
}

/** The statements by which the login gets the session that a pooler does not make, as the start names them. */
export async function pooledSessionStatements(url: string): Promise<string> {
  await using database = openDatabase({ url }, { isPooled: true, poolSize: 1 });
  const said = await requirePooledSession(database, SERVICE_ROLE, SERVICE_TIMEOUTS).then(
    () => '',
    (error: Error) => error.message,
  );
  return /ALTER ROLE .*;$/.exec(said)?.[0] ?? '';
}
