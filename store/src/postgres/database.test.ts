import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { useTestDatabase } from '../testing/index.ts';
import { openDatabase } from './database.ts';
import { DatabaseUnavailable, isUnavailable } from './errors.ts';
import { sql } from './sql.ts';
import { type NoParameters, statement } from './statement.ts';

const test = await useTestDatabase();

describe('openDatabase', () => {
  it('returns 64-bit integers and sums of them as bigint, and timestamps as ISO text with microseconds', async () => {
    const row = await test.database.one(
      statement<NoParameters, { big: bigint; total: bigint; at: string; whole: string }>(
        'test-types',
        sql`SELECT 9007199254740993::bigint AS big, sum(x::bigint) AS total,
                '2026-11-20 15:15:30.1234+05'::timestamptz AS at, '2026-11-20 10:15:30Z'::timestamptz AS whole
         FROM (VALUES (1), (2)) AS v (x)`,
      ),
    );
    assert.deepEqual(row, {
      big: 9007199254740993n,
      total: 3n,
      at: '2026-11-20T10:15:30.123400+00:00',
      whole: '2026-11-20T10:15:30.000000+00:00',
    });
  });

  it('rolls a transaction back when its work throws, and keeps the connection usable', async () => {
    const insert = statement<{ name: string }>(
      'test-insert-org',
      sql`INSERT INTO organizations (name, name_key) VALUES (${'name'}, ${'name'})`,
    );
    await assert.rejects(
      test.database.transaction(async (tx) => {
        await tx.run(insert, { name: 'rolled back' });
        throw new Error('no');
      }),
      /^Error: no$/,
    );
    const count = statement<NoParameters, { n: bigint }>(
      'test-count-org',
      sql`SELECT count(*) AS n FROM organizations`,
    );
    assert.deepEqual(await test.database.one(count), { n: 0n });
  });

  it('passes on what the work throws, even when it looks like an error of the connection', async () => {
    const missing = Object.assign(new Error('no such file'), { code: 'ENOENT' });
    await assert.rejects(
      test.database.transaction(async () => {
        throw missing;
      }),
      (error) => error === missing,
    );
  });

  it('runs a transaction again when PostgreSQL ends it for a deadlock', async () => {
    const { database } = test;
    await database.run(
      statement<NoParameters>(
        'test-two-orgs',
        sql`INSERT INTO organizations (name, name_key) VALUES ('a', 'a'), ('b', 'b')`,
      ),
    );
    const lock = statement<{ key: string }>(
      'test-lock',
      sql`SELECT FROM organizations WHERE name_key = ${'key'} FOR UPDATE`,
    );
    let runs = 0;
    // Each locks one row and then wants the other's: the server ends one of the two, which then runs again.
    const firstLocks = Promise.withResolvers<void>();
    let waiting = 0;
    const cross = (first: string, second: string) =>
      database.transaction(async (tx) => {
        runs += 1;
        await tx.run(lock, { key: first });
        waiting += 1;
        if (waiting === 2) firstLocks.resolve();
        await firstLocks.promise;
        await tx.run(lock, { key: second });
      });
    await Promise.all([cross('a', 'b'), cross('b', 'a')]);
    // The one that runs again can be faster than the other resumes, and then deadlocks with it once more.
    assert.ok(runs >= 3);
  });

  it('says DatabaseUnavailable when there is no server, and when a statement takes too long', async () => {
    await using nowhere = openDatabase({ host: '/nonexistent', port: 5432, user: 'x', database: 'x' });
    await assert.rejects(
      nowhere.one(statement<NoParameters>('test-nowhere', sql`SELECT 1`)),
      DatabaseUnavailable,
    );
    await assert.rejects(
      test.database.transaction(async (tx) => {
        await tx.run(statement<NoParameters>('test-limit', sql`SET LOCAL statement_timeout = '20ms'`));
        await tx.run(statement<NoParameters>('test-slow', sql`SELECT pg_sleep(5)`));
      }),
      DatabaseUnavailable,
    );
  });

  it('notes since when statements fail for want of the server, until it answers one', async () => {
    await using database = openDatabase(test.address);
    const since = () => database.usage().unavailableSinceMs;
    const slow = () =>
      database.transaction(async (tx) => {
        await tx.run(statement<NoParameters>('test-limit', sql`SET LOCAL statement_timeout = '20ms'`));
        await tx.run(statement<NoParameters>('test-slow', sql`SELECT pg_sleep(5)`));
      });
    assert.equal(since(), undefined);
    const before = performance.now();
    await assert.rejects(slow, DatabaseUnavailable);
    const first = since() ?? 0;
    assert.ok(first >= before && first <= performance.now());
    await assert.rejects(database.run(statement<NoParameters>('test-refused', sql`SELECT 1 / 0`)));
    assert.equal(since(), undefined, 'an error of its own is an answer');
  });

  it('counts a server that stopped answering as unavailable', () => {
    assert.equal(isUnavailable(new Error('Query read timeout')), true);
    assert.equal(isUnavailable(new Error('something else')), false);
  });

  it('goes on after the server ended its connections', async () => {
    // A pool of its own: a connection whose end is not noticed yet would fail its next user.
    await using database = openDatabase(test.address, { applicationName: 'doomed' });
    const one = statement<NoParameters, { one: number }>('test-one', sql`SELECT 1 AS one, pg_sleep(0.01)`);
    await Promise.all([database.run(one), database.run(one)]);
    const ended = await database.run(
      statement<NoParameters>(
        'test-terminate',
        sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'doomed' AND pid <> pg_backend_pid()`,
      ),
    );
    assert.equal(ended, 1);
    assert.equal((await database.one(one))?.one, 1);
  });

  it('quotes no row in an error, in a transaction or outside', async () => {
    const insert = statement<NoParameters>(
      'test-null',
      sql`INSERT INTO organizations (name, name_key) VALUES ('canary', NULL)`,
    );
    const { database } = test;
    for (const attempt of [() => database.run(insert), () => database.transaction((tx) => tx.run(insert))]) {
      const error: unknown = await attempt().catch((e: unknown) => e);
      assert.match(inspect(error), /violates not-null constraint/);
      assert.ok(!inspect(error).includes('canary'), inspect(error));
    }
  });
});
