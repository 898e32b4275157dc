import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
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
import { type TestDatabase, useTestDatabase } from '@gatehouse/store/testing';

const NOBODY = 65_534;
const PASSWORD = 'of-the-pooler';
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

  /** Runs the documented configuration for the database of the tests, as if it were at this address. */
  const startPooler = async (
    context: TestContext,
    { host, port, user, database }: TestDatabase['address'],
    more: Readonly<Record<string, string>> = {},
  ): Promise<string | undefined> => {
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
    const page = await readFile(join(import.meta.dirname, '../docs/operations.md'), 'utf8');
    const documented =
      /^```ini\n([\s\S]*?)^```/m.exec(page)?.[1] ?? assert.fail('the page has no pgbouncer.ini');
    const users = join(directory, 'userlist.txt');
    const replaced = {
      'gatehouse =': `${database} = host=${host} port=${port} dbname=${database}`,
      'listen_addr =': 'listen_addr = 127.0.0.1',
      'listen_port =': `listen_port = ${listenPort}`,
      'auth_file =': `auth_file = ${users}`,
      ...more,
    };
    const file = join(directory, 'pgbouncer.ini');
    const lines = documented.split('\n').map((line) => {
      const found = Object.entries(replaced).find(([start]) => line.startsWith(start));
      return found === undefined ? line : found[1];
    });
    await writeFile(file, lines.join('\n'));
    await writeFile(users, `"${user}" "${PASSWORD}"\n`);
    await chmod(users, 0o644);
    const ids = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
    const child = spawn('pgbouncer', [file], { stdio: 'ignore', ...ids });
    stack.defer(async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    });
    const url = `postgres://${user}:${PASSWORD}@127.0.0.1:${listenPort}/${database}`;
    await waitUntil('the pooler answers', () => answers(url));
    return url;
  };
  /** The folder of the server's socket is closed to the user that the pooler runs as. */
  const startProxy = async () => {
    const proxy = stack.use(await startPostgresProxy(test.address));
    if (!('host' in proxy.address)) throw new Error('expected the parts of an address');
    return { proxy, address: { ...proxy.address, database: test.address.database } };
  };
  const answers = async (url: string) => {
    await using database = openDatabase({ url }, { isPooled: true, poolSize: 1 });
    return await database.one(prepared).then(
      () => true,
      () => false,
    );
  };

  it('works with the settings of the login, which the start names, and without prepared statements', async (context) => {
    const { address } = await startProxy();
    // Fewer connections than are asked for at once, so that transactions share them.
    const url = await startPooler(context, address, { 'default_pool_size =': 'default_pool_size = 2' });
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

  it('answers within seconds after PostgreSQL was gone for a moment', async (context) => {
    const { proxy, address } = await startProxy();
    const url = await startPooler(context, address);
    if (url === undefined) return;
    await using database = openDatabase({ url }, { isPooled: true });
    await proxy.cut();
    // The pooler has tried to connect, and failed.
    await waitUntil('it is gone', () => answers(url).then((isThere) => !isThere));
    await assert.rejects(database.one(count));
    await proxy.restore();
    const startedAt = performance.now();
    await waitUntil('it is there again', () => answers(url));
    const tookMs = performance.now() - startedAt;
    // By default, 15 s.
    assert.ok(tookMs < 6_000, `${tookMs} ms`);
  });
});
