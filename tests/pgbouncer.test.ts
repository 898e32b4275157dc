import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it, type TestContext } from 'node:test';
import { startPostgresProxy, waitUntil } from '@gatehouse/gateway/testing';
import {
  MigrationError,
  type NoParameters,
  openDatabase,
  requirePooledSession,
  requireServiceRole,
  SERVICE_ROLE,
  SERVICE_TIMEOUTS,
  sql,
  statement,
} from '@gatehouse/store';
import { useTestDatabase } from '@gatehouse/store/testing';

const NOBODY = 65_534;
const count = statement<NoParameters, { count: bigint }>(
  'test-pgbouncer-count',
  sql`SELECT count(*) FROM projects`,
);
const prepared = statement<NoParameters, { count: bigint }>(
  'test-pgbouncer-prepared',
  sql`SELECT count(*) FROM pg_prepared_statements`,
);

// PgBouncer of this machine, in transaction mode, with two connections for all.
describe('PostgreSQL behind a pooler', async () => {
  const test = await useTestDatabase();
  const stack = new AsyncDisposableStack();
  after(() => stack.disposeAsync());

  const startPooler = async (context: TestContext): Promise<string | undefined> => {
    // The folder of the server's socket is closed to the user that the pooler runs as.
    const { address } = stack.use(await startPostgresProxy(test.address));
    if (!('host' in address)) throw new Error('expected the parts of an address');
    const { host, port, user, database } = address;
    const [code] = await once(spawn('pgbouncer', ['--version'], { stdio: 'ignore' }), 'exit').catch(() => [
      -1,
    ]);
    if (code !== 0) return void context.skip('pgbouncer is not installed');
    const directory = await mkdtemp(join(tmpdir(), 'gatehouse-pgbouncer-'));
    stack.defer(() => rm(directory, { recursive: true }));
    await chmod(directory, 0o755);
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const { port: listenPort } = free.address() as AddressInfo;
    free.close();
    await once(free, 'close');
    const file = join(directory, 'pgbouncer.ini');
    await writeFile(
      file,
      `[databases]
${database} = host=${host} port=${port} dbname=${database} user=${user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
`,
    );
    const ids = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
    const child = spawn('pgbouncer', [file], { stdio: 'ignore', ...ids });
    stack.defer(async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    });
    const url = `postgres://${user}@127.0.0.1:${listenPort}/${database}`;
    await waitUntil('the pooler answers', async () => {
      await using database = openDatabase({ url }, { isPooled: true, poolSize: 1 });
      return await database.one(prepared).then(
        () => true,
        () => false,
      );
    });
    return url;
  };

  it('works with the settings of the login, which the start names, and without prepared statements', async (context) => {
    const url = await startPooler(context);
    if (url === undefined) return;
    await using database = openDatabase({ url }, { isPooled: true });
    const error = await requirePooledSession(database, SERVICE_ROLE, SERVICE_TIMEOUTS).then(
      () => assert.fail('nothing is missing'),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof MigrationError);
    const statements = error.message.match(/ALTER ROLE .*;$/)?.[0] ?? '';
    assert.match(statements, /SET role = 'gatehouse_service'; .*SET lock_timeout = '2000'; /);
    await using owner = openDatabase(test.address);
    const direct = await owner.connect();
    await direct.query(statements);
    await direct.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    await direct.end();
    await waitUntil('the pooler has other connections', () =>
      requirePooledSession(database, SERVICE_ROLE, SERVICE_TIMEOUTS).then(
        () => true,
        () => false,
      ),
    );
    await requireServiceRole(database);
    const counts = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        index % 2 === 0 ? database.one(count) : database.transaction((tx) => tx.one(count)),
      ),
    );
    assert.ok(counts.every((row) => row?.count === 0n));
    assert.equal((await database.one(prepared))?.count, 0n);
    // What the setting DATABASE_POOLER is for.
    await using unpooled = openDatabase({ url });
    await assert.rejects(unpooled.one(count));
  });
});
