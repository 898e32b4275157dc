import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openEmbeddedPostgres } from '@gatehouse/embedded';
import { startPostgresProgram } from '../../postgres-program.ts';
import { startFaultProxy } from '../fault-proxy.ts';

const PORT = 5_432;
const DEBIAN = '/usr/lib/postgresql';

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
  const server = await startPostgresProgram({
    programs,
    data: join(directory, 'postgres'),
    host,
    port: PORT,
    settings: { max_connections: '100' },
  });
  return {
    name: `PostgreSQL ${server.version}`,
    url: server.url,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
