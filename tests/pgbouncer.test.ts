import assert from 'node:assert/strict';
import { after, describe, it, type TestContext } from 'node:test';
import { startPostgresProxy, waitUntil } from '@gatehouse/gateway/testing';
import {
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
import { answersPooled, pooledSessionStatements, startPgBouncer, whyNoPgBouncer } from './pgbouncer.ts';

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
    lines?: Readonly<Record<string, string>>,
  ): Promise<string | undefined> => {
    const reason = whyNoPgBouncer();
    if (reason !== undefined) return void context.skip(reason);
    const pooler = stack.use(
      await startPgBouncer({ host: `${host}`, port: Number(port), database }, user, lines),
    );
    return pooler.url;
  };
  /** The folder of the server's socket is closed to the user that the pooler runs as. */
  const startProxy = async () => {
    const proxy = stack.use(await startPostgresProxy(test.address));
    if (!('host' in proxy.address)) throw new Error('expected the parts of an address');
    return { proxy, address: { ...proxy.address, database: test.address.database } };
  };
  it('works with the settings of the login, which the start names, and without prepared statements', async (context) => {
    const { address } = await startProxy();
    // Fewer connections than are asked for at once, so that transactions share them.
    const url = await startPooler(context, address, { 'default_pool_size =': 'default_pool_size = 2' });
    if (url === undefined) return;
    await using database = openDatabase({ url }, { isPooled: true });
    const statements = await pooledSessionStatements(url);
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
    await waitUntil('it is gone', () => answersPooled(url).then((isThere) => !isThere));
    await assert.rejects(database.one(count));
    await proxy.restore();
    const startedAt = performance.now();
    await waitUntil('it is there again', () => answersPooled(url));
    const tookMs = performance.now() - startedAt;
    // By default, 15 s.
    assert.ok(tookMs < 6_000, `${tookMs} ms`);
  });
});
