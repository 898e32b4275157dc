import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { after, test } from 'node:test';
import pg from 'pg';
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
import { findSystemTools } from './system-tools.ts';

const fixture = await createPostgresFixture();
after(() => fixture[Symbol.asyncDispose]());

// Shared by the tests that need no new one, because initdb is slow. Each test leaves it intact and without a server.
const dataDir = fixture.dataDir();

const tools = findSystemTools();

test('a follower becomes the leader when the leader is killed, and its pool keeps working', async () => {
  await using leader = fixture.startHolder({ dataDir });
  const { serverPid } = await leader.opened();
  await using follower = await openEmbeddedPostgres({ dataDir });
  assert.equal(follower.role(), 'follower');
  await insertRow(follower, 'leader killed');
  await leader.kill();
  await waitFor('the follower leads', () => follower.role() === 'leader');
  assert.notEqual(follower.serverPid(), serverPid);
  assert.ok(await hasRow(follower, 'leader killed'));
});

test('a killed server is restarted, although a busy backend outlives it', async () => {
  const events: string[] = [];
  await using server = await openEmbeddedPostgres({ dataDir, onEvent: ({ kind }) => events.push(kind) });
  await insertRow(server, 'server killed');
  const busy = new pg.Client({ ...server.connection });
  busy.on('error', () => undefined);
  await busy.connect();
  // A loop like this checks neither its client nor its postmaster.
  const computing = busy.query('DO $$ BEGIN FOR n IN 1..2000000000 LOOP NULL; END LOOP; END $$');
  const outcome = computing.then(
    () => 'finished',
    () => 'ended',
  );
  await waitFor('the backend computes', async () => {
    const [row] = await query(
      server,
      `SELECT FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'DO %'`,
    );
    return row !== undefined;
  });
  const killed = server.serverPid();
  assert.ok(killed);
  process.kill(killed, 'SIGKILL');
  await waitFor('another server', () => ![undefined, killed].includes(server.serverPid()));
  assert.ok(await hasRow(server, 'server killed'));
  assert.equal(await outcome, 'ended');
  assert.equal(server.role(), 'leader');
  assert.deepEqual(events, ['started', 'lost', 'orphaned-processes-ended', 'started']);
});

test('no acknowledged row is lost and no process stays when leader or server is killed under load', async () => {
  const acknowledged: string[] = [];
  for (let cycle = 0; cycle < 5; cycle += 1) {
    // Started right after the previous one was killed: it has to wait for that one's server to stop.
    await using leader = fixture.startHolder({ dataDir, inserters: 4 });
    const { role, serverPid } = await leader.opened();
    assert.equal(role, 'leader');
    await waitFor('rows are acknowledged', () => leader.acknowledged().length > 100);
    if (cycle % 2 === 1) process.kill(serverPid, 'SIGKILL');
    await leader.kill();
    acknowledged.push(...leader.acknowledged());
  }
  {
    await using server = await openEmbeddedPostgres({ dataDir });
    const stored = new Set((await query(server, 'SELECT row FROM kept')).map(({ row }) => row));
    assert.deepEqual(
      acknowledged.filter((row) => !stored.has(row)),
      [],
    );
  }
  await assertNoServer(dataDir);
});

test('the server of a killed leader shuts down cleanly and leaves no process', {
  skip: !tools.setpriv && 'no setpriv',
}, async () => {
  await using leader = fixture.startHolder({ dataDir });
  await leader.opened();
  await leader.kill();
  await assertNoServer(dataDir);
  assert.match(
    await readFile(join(dataDir, 'postgres', 'server.log'), 'utf8'),
    /database system is shut down\n$/,
  );
});

test('without setpriv the orphaned server of a killed leader is replaced at the next start', async () => {
  const environment = { tools: { ...tools, setpriv: undefined } };
  await using leader = fixture.startHolder({ dataDir, environment });
  const { serverPid } = await leader.opened();
  await leader.kill();
  assert.ok((await serverProcesses(dataDir)).some(({ pid }) => pid === serverPid));
  const events: string[] = [];
  const server = await openEmbeddedPostgres(
    { dataDir, onEvent: ({ kind }) => events.push(kind) },
    environment,
  );
  assert.deepEqual(events, ['orphaned-server-stopped', 'started']);
  assert.notEqual(server.serverPid(), serverPid);
  await server[Symbol.asyncDispose]();
  await assertNoServer(dataDir);
});

test('without setpriv a follower replaces the orphaned server by itself', async () => {
  const environment = { tools: { ...tools, setpriv: undefined } };
  await using leader = fixture.startHolder({ dataDir, environment });
  await leader.opened();
  await using follower = await openEmbeddedPostgres({ dataDir }, environment);
  await leader.kill();
  await waitFor('the follower leads', () => follower.role() === 'leader');
  assert.equal((await query(follower, 'SELECT 1')).length, 1);
});

test('without flock PostgreSQL itself decides who runs the server', async () => {
  const dataDir = fixture.dataDir();
  const environment = { tools: { ...tools, flock: undefined } };
  const opening = [1, 2].map(() => openEmbeddedPostgres({ dataDir }, environment));
  {
    await using opened = new AsyncDisposableStack();
    // Followers close first, or one of them would become the leader.
    for (const role of ['leader', 'follower']) {
      for (const outcome of await Promise.allSettled(opening)) {
        if (outcome.status === 'fulfilled' && outcome.value.role() === role) opened.use(outcome.value);
      }
    }
    const servers = await Promise.all(opening);
    assert.deepEqual(servers.map((server) => server.role()).toSorted(), ['follower', 'leader']);
    assert.equal(new Set(servers.map((server) => server.serverPid())).size, 1);
  }
  await assertNoServer(dataDir);
});

test('a directory that vanished is not replaced by an empty one', async () => {
  const events: string[] = [];
  await using server = await openEmbeddedPostgres({
    dataDir,
    onEvent: ({ kind, message }) => events.push(`${kind}: ${message}`),
  });
  await insertRow(server, 'directory vanished');
  const killed = server.serverPid();
  assert.ok(killed);
  await rename(server.dataDirectory, `${server.dataDirectory}.aside`);
  process.kill(killed, 'SIGKILL');
  await waitFor('restart-failed', () => events.some((event) => /^restart-failed: .* is gone /.test(event)));
  assert.equal(server.serverPid(), undefined);
  await rename(`${server.dataDirectory}.aside`, server.dataDirectory);
  assert.ok(await hasRow(server, 'directory vanished'));
});

test('a pid file left by a crash may have the pid of any process, or of a zombie', {
  skip: process.platform !== 'linux' && 'needs /proc',
}, async () => {
  // The shell becomes a sleep that never collects the exit status of its child, so that child stays a zombie. The child
  // must not end before: the shell would collect it. It ends with the pipe that it reads.
  const script = 'cat <&3 >/dev/null & echo $!; exec sleep 60';
  const parent = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore', 'pipe'] });
  try {
    const [line] = (await once(parent.stdout as Readable, 'data')) as [Buffer];
    const zombie = Number(line.toString());
    const read = (path: string) => readFile(`/proc/${path}`, 'utf8');
    await waitFor('the shell is a sleep', async () => (await read(`${parent.pid}/comm`)) === 'sleep\n');
    (parent.stdio[3] as Writable).end();
    await waitFor('its child is a zombie', async () => / Z /.test(await read(`${zombie}/stat`)));
    for (const pid of [zombie, parent.pid]) {
      const file = [pid, join(dataDir, 'postgres'), 1, 5432, '/nowhere', '', '1 1', 'ready', ''].join('\n');
      await writeFile(join(dataDir, 'postgres', 'postmaster.pid'), file);
      await using server = await openEmbeddedPostgres({ dataDir });
      assert.equal(server.role(), 'leader');
    }
  } finally {
    parent.kill('SIGKILL');
  }
});
