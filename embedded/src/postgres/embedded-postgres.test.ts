import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { after, test } from 'node:test';
import {
  assertNoServer,
  isKept,
  keep,
  makeGround,
  query,
  serverProcesses,
  until,
} from '../testing/postgres-server.ts';
import { openEmbeddedPostgres } from './index.ts';
import { isServerOn } from './processes.ts';

const ground = await makeGround();
after(() => ground[Symbol.asyncDispose]());

// One for the tests that need no fresh one, since initdb is slow; each leaves it whole and without a server.
const dataDir = ground.dataDir();

async function postmasters(dataDir: string) {
  const processes = await serverProcesses(dataDir);
  return processes.filter(({ pid }) => isServerOn(join(dataDir, 'postgres'), pid));
}

test('the first start makes the database, and a later one finds its rows', async () => {
  {
    await using server = await openEmbeddedPostgres({ dataDir });
    assert.equal(server.role(), 'owner');
    assert.equal(server.dataDirectory, join(dataDir, 'postgres'));
    assert.deepEqual(
      (await postmasters(dataDir)).map(({ pid }) => pid),
      [server.serverPid()],
    );
    await keep(server, 'first start');
  }
  await assertNoServer(dataDir);
  await using server = await openEmbeddedPostgres({ dataDir });
  assert.ok(await isKept(server, 'first start'));
});

test('commits are flushed, sorting is by code point, times are UTC, and only the owner gets in', async () => {
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

test('of several that open at once one runs the server and all use it', async () => {
  const dataDir = ground.dataDir();
  const holders = [ground.hold({ dataDir }), ground.hold({ dataDir })];
  await using first = await openEmbeddedPostgres({ dataDir });
  await using second = await openEmbeddedPostgres({ dataDir });
  const opened = await Promise.all(holders.map((holder) => holder.opened()));
  const roles = [first.role(), second.role(), ...opened.map(({ role }) => role)];
  assert.deepEqual(roles.toSorted(), ['guest', 'guest', 'guest', 'owner']);
  assert.equal((await postmasters(dataDir)).length, 1);
  assert.deepEqual(new Set(opened.map(({ serverPid }) => serverPid)), new Set([first.serverPid()]));
  await Promise.all(holders.map((holder) => holder.release()));
});

test('a guest runs the server on when the owner closes', async () => {
  const owner = await openEmbeddedPostgres({ dataDir });
  const events: string[] = [];
  await using guest = await openEmbeddedPostgres({ dataDir, onEvent: ({ kind }) => events.push(kind) });
  await keep(guest, 'owner closes');
  await owner[Symbol.asyncDispose]();
  await until('the guest is the owner', () => guest.role() === 'owner');
  assert.ok(await isKept(guest, 'owner closes'));
  assert.deepEqual(events, ['joined', 'lost', 'started']);
});

test('a guest that closes leaves the server alone', async () => {
  await using owner = await openEmbeddedPostgres({ dataDir });
  {
    await using guest = await openEmbeddedPostgres({ dataDir });
    assert.equal(guest.role(), 'guest');
  }
  assert.deepEqual(await query(owner, 'SELECT 1 AS n'), [{ n: 1 }]);
});

test('a relative data directory counts from the current one', async () => {
  await using server = await openEmbeddedPostgres({ dataDir: relative(process.cwd(), dataDir) });
  assert.equal(server.dataDirectory, join(dataDir, 'postgres'));
});

test('a path may hold blanks, commas, quotes and letters beyond ASCII', async () => {
  const dataDir = ground.dataDir(`it's "a", b é`);
  await using server = await openEmbeddedPostgres({ dataDir });
  assert.equal(server.connection.host, join(dataDir, 'postgres', 'socket'));
  assert.equal((await query(server, 'SELECT 1')).length, 1);
});

test('a path too long for a socket puts the socket elsewhere, in the same place each time', async () => {
  const dataDir = ground.dataDir('long'.repeat(30));
  let host: string;
  {
    await using owner = await openEmbeddedPostgres({ dataDir });
    host = owner.connection.host;
    assert.ok(!host.startsWith(dataDir));
    assert.equal((await stat(host)).mode & 0o777, 0o700);
    await using guest = await openEmbeddedPostgres({ dataDir });
    assert.equal(guest.connection.host, host);
  }
  await assert.rejects(stat(host), { code: 'ENOENT' });
  await using later = await openEmbeddedPostgres({ dataDir });
  assert.equal(later.connection.host, host);
  assert.equal((await query(later, 'SELECT 1')).length, 1);
});
