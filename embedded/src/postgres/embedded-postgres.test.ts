import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { after, test } from 'node:test';
import { type NoParameters, openDatabase, sql, statement } from '@gatehouse/store';
import {
  assertNoServer,
  createPostgresFixture,
  hasRow,
  insertRow,
  query,
  serverProcesses,
  waitFor,
} from '../testing/postgres-fixture.ts';
import { openEmbeddedPostgres } from './index.ts';
import { isServerOn } from './processes.ts';

const fixture = await createPostgresFixture();
after(() => fixture[Symbol.asyncDispose]());

// Shared by the tests that need no new one, because initdb is slow. Each test leaves it intact and without a server.
const dataDir = fixture.dataDir();

/** The process that runs the server. One that it has just started has its command line too, until it gives itself a name. */
function postmaster(dataDir: string): Promise<number> {
  return waitFor('one postmaster', async () => {
    const processes = await serverProcesses(dataDir);
    const [first, ...others] = processes.filter(({ pid }) => isServerOn(join(dataDir, 'postgres'), pid));
    return others.length === 0 && first?.pid;
  });
}

test('nothing of the environment that is meant for other servers reaches it', async () => {
  const foreign = {
    PGOPTIONS: '-c no_such_setting=1',
    PGREPLICATION: 'database',
    PGSSLNEGOTIATION: 'direct',
    PGSSLMODE: 'require',
    PGHOST: '192.0.2.1',
    PGPORT: '1',
    PGUSER: 'nobody',
    PGDATABASE: 'none',
    PGPASSWORD: 'x',
    PGDATA: '/nonexistent',
    PGTZ: 'Asia/Karachi',
    PGSERVICE: 'none',
    LD_PRELOAD: '/nonexistent.so',
  };
  const before = { ...process.env };
  Object.assign(process.env, foreign);
  try {
    await using server = await openEmbeddedPostgres({ dataDir: fixture.dataDir() });
    await using database = openDatabase(server.connection);
    const text = statement<NoParameters, { timezone: string }>(
      'embedded-environment',
      sql`SELECT current_setting('TimeZone') AS timezone`,
    );
    assert.deepEqual(await database.one(text), { timezone: 'UTC' });
    await using snapshot = await database.snapshot();
    assert.deepEqual(await snapshot.one(text), { timezone: 'UTC' });
  } finally {
    for (const name of Object.keys(foreign)) delete process.env[name];
    Object.assign(process.env, before);
  }
});

test('the first start creates the database, and a later one finds its rows', async () => {
  {
    await using server = await openEmbeddedPostgres({ dataDir });
    assert.equal(server.role(), 'leader');
    assert.equal(server.dataDirectory, join(dataDir, 'postgres'));
    assert.equal(await postmaster(dataDir), server.serverPid());
    await insertRow(server, 'first start');
  }
  await assertNoServer(dataDir);
  await using server = await openEmbeddedPostgres({ dataDir });
  assert.ok(await hasRow(server, 'first start'));
});

test('commits are flushed, sorting is by code point, times are UTC, and only one user has access', async () => {
  await using server = await openEmbeddedPostgres({ dataDir });
  const settings = await query(
    server,
    `SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes',
       'data_checksums', 'TimeZone', 'server_encoding', 'listen_addresses', 'jit') ORDER BY name`,
  );
  assert.deepEqual(Object.fromEntries(settings.map(({ name, setting }) => [name, setting])), {
    data_checksums: 'on',
    fsync: 'on',
    full_page_writes: 'on',
    jit: 'off',
    listen_addresses: '',
    server_encoding: 'UTF8',
    synchronous_commit: 'on',
    TimeZone: 'UTC',
  });
  const [row] = await query(server, `SELECT upper('é') AS upper, 'Z' < 'a' AS by_code_point`);
  assert.deepEqual(row, { upper: 'É', by_code_point: true });
  for (const folder of [server.connection.host, server.dataDirectory]) {
    assert.equal((await stat(folder)).mode & 0o777, 0o700, folder);
  }
});

test('of several that open at once one leads and all use its server', async () => {
  const dataDir = fixture.dataDir();
  const holders = [fixture.startHolder({ dataDir }), fixture.startHolder({ dataDir })];
  await using first = await openEmbeddedPostgres({ dataDir });
  await using second = await openEmbeddedPostgres({ dataDir });
  const opened = await Promise.all(holders.map((holder) => holder.opened()));
  const roles = [first.role(), second.role(), ...opened.map(({ role }) => role)];
  assert.deepEqual(roles.toSorted(), ['follower', 'follower', 'follower', 'leader']);
  assert.equal(await postmaster(dataDir), first.serverPid());
  assert.deepEqual(new Set(opened.map(({ serverPid }) => serverPid)), new Set([first.serverPid()]));
  await Promise.all(holders.map((holder) => holder.release()));
});

test('a follower becomes the leader when the leader closes', async () => {
  const leader = await openEmbeddedPostgres({ dataDir });
  const events: string[] = [];
  await using follower = await openEmbeddedPostgres({ dataDir, onEvent: ({ kind }) => events.push(kind) });
  await insertRow(follower, 'leader closes');
  await leader[Symbol.asyncDispose]();
  await waitFor('the follower leads', () => follower.role() === 'leader');
  assert.ok(await hasRow(follower, 'leader closes'));
  assert.deepEqual(events, ['joined', 'lost', 'started']);
});

test('a follower that closes does not affect the server', async () => {
  await using leader = await openEmbeddedPostgres({ dataDir });
  {
    await using follower = await openEmbeddedPostgres({ dataDir });
    assert.equal(follower.role(), 'follower');
  }
  assert.deepEqual(await query(leader, 'SELECT 1 AS n'), [{ n: 1 }]);
});

test('a relative data directory counts from the current directory', async () => {
  await using server = await openEmbeddedPostgres({ dataDir: relative(process.cwd(), dataDir) });
  assert.equal(server.dataDirectory, join(dataDir, 'postgres'));
});

test('a path may hold blanks, commas, quotes and letters beyond ASCII', async () => {
  const dataDir = fixture.dataDir(`it's "a", b é`);
  await using server = await openEmbeddedPostgres({ dataDir });
  assert.equal(server.connection.host, join(dataDir, 'postgres', 'socket'));
  assert.equal((await query(server, 'SELECT 1')).length, 1);
});

test('a path too long for a socket puts the socket elsewhere, in the same place each time', async () => {
  const dataDir = fixture.dataDir('long'.repeat(30));
  let host: string;
  {
    await using leader = await openEmbeddedPostgres({ dataDir });
    host = leader.connection.host;
    assert.ok(!host.startsWith(dataDir));
    assert.equal((await stat(host)).mode & 0o777, 0o700);
    await using follower = await openEmbeddedPostgres({ dataDir });
    assert.equal(follower.connection.host, host);
  }
  await assert.rejects(stat(host), { code: 'ENOENT' });
  await using later = await openEmbeddedPostgres({ dataDir });
  assert.equal(later.connection.host, host);
  assert.equal((await query(later, 'SELECT 1')).length, 1);
});
