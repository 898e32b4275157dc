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
  isKept,
  keep,
  makeGround,
  query,
  serverProcesses,
  until,
} from '../testing/postgres-server.ts';
import { openEmbeddedPostgres } from './index.ts';
import { findSystemTools } from './system-tools.ts';

const ground = await makeGround();
after(() => ground[Symbol.asyncDispose]());

// One for the tests that need no fresh one, since initdb is slow; each leaves it whole and without a server.
const dataDir = ground.dataDir();

const tools = findSystemTools();

test('a guest takes over when the owner is killed, and its pool goes on', async () => {
  await using owner = ground.hold({ dataDir });
  const { serverPid } = await owner.opened();
  await using guest = await openEmbeddedPostgres({ dataDir });
  assert.equal(guest.role(), 'guest');
  await keep(guest, 'owner killed');
  await owner.kill();
  await until('the guest is the owner', () => guest.role() === 'owner');
  assert.notEqual(guest.serverPid(), serverPid);
  assert.ok(await isKept(guest, 'owner killed'));
});

test('a killed server is started again, past a backend that is too busy to notice', async () => {
  const events: string[] = [];
  await using server = await openEmbeddedPostgres({ dataDir, onEvent: ({ kind }) => events.push(kind) });
  await keep(server, 'server killed');
  const busy = new pg.Client({ ...server.connection });
  busy.on('error', () => undefined);
  await busy.connect();
  // A loop like this looks neither at its client nor at its postmaster.
  const computing = busy.query('DO $$ BEGIN FOR n IN 1..2000000000 LOOP NULL; END LOOP; END $$');
  const outcome = computing.then(
    () => 'finished',
    () => 'cut off',
  );
  await until('the backend computes', async () => {
    const [row] = await query(
      server,
      `SELECT FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'DO %'`,
    );
    return row !== undefined;
  });
  const killed = server.serverPid();
  assert.ok(killed);
  process.kill(killed, 'SIGKILL');
  await until('another server', () => ![undefined, killed].includes(server.serverPid()));
  assert.ok(await isKept(server, 'server killed'));
  assert.equal(await outcome, 'cut off');
  assert.equal(server.role(), 'owner');
  assert.deepEqual(events, ['started', 'lost', 'strays-ended', 'started']);
});

test('whoever is killed under load, no acknowledged row is lost and no process stays', async () => {
  const acknowledged: string[] = [];
  for (let cycle = 0; cycle < 5; cycle += 1) {
    // Started right after the last was killed: it has to wait for that one's server to go down.
    await using owner = ground.hold({ dataDir, inserters: 4 });
    const { role, serverPid } = await owner.opened();
    assert.equal(role, 'owner');
    await until('rows are acknowledged', () => owner.acknowledged().length > 100);
    if (cycle % 2 === 1) process.kill(serverPid, 'SIGKILL');
    await owner.kill();
    acknowledged.push(...owner.acknowledged());
  }
  {
    await using server = await openEmbeddedPostgres({ dataDir });
    const stored = new Set((await query(server, 'SELECT row FROM drill')).map(({ row }) => row));
    assert.deepEqual(
      acknowledged.filter((row) => !stored.has(row)),
      [],
    );
  }
  await assertNoServer(dataDir);
});

test('the server of a killed owner shuts down in order and leaves nothing', {
  skip: !tools.setpriv && 'no setpriv',
}, async () => {
  await using owner = ground.hold({ dataDir });
  await owner.opened();
  await owner.kill();
  await assertNoServer(dataDir);
  assert.match(
    await readFile(join(dataDir, 'postgres', 'server.log'), 'utf8'),
    /database system is shut down\n$/,
  );
});

test('without setpriv the orphan of a killed owner is replaced at the next start', async () => {
  const surroundings = { tools: { ...tools, setpriv: undefined } };
  await using owner = ground.hold({ dataDir, surroundings });
  const { serverPid } = await owner.opened();
  await owner.kill();
  assert.ok((await serverProcesses(dataDir)).some(({ pid }) => pid === serverPid));
  const events: string[] = [];
  const server = await openEmbeddedPostgres(
    { dataDir, onEvent: ({ kind }) => events.push(kind) },
    surroundings,
  );
  assert.deepEqual(events, ['orphan-stopped', 'started']);
  assert.notEqual(server.serverPid(), serverPid);
  await server[Symbol.asyncDispose]();
  await assertNoServer(dataDir);
});

test('without setpriv a guest replaces the orphan by itself', async () => {
  const surroundings = { tools: { ...tools, setpriv: undefined } };
  await using owner = ground.hold({ dataDir, surroundings });
  await owner.opened();
  await using guest = await openEmbeddedPostgres({ dataDir }, surroundings);
  await owner.kill();
  await until('the guest is the owner', () => guest.role() === 'owner');
  assert.equal((await query(guest, 'SELECT 1')).length, 1);
});

test('without flock PostgreSQL itself decides who runs the server', async () => {
  const dataDir = ground.dataDir();
  const surroundings = { tools: { ...tools, flock: undefined } };
  const opening = [1, 2].map(() => openEmbeddedPostgres({ dataDir }, surroundings));
  {
    await using opened = new AsyncDisposableStack();
    // Guests leave first, or one of them would run the server on.
    for (const role of ['owner', 'guest']) {
      for (const outcome of await Promise.allSettled(opening)) {
        if (outcome.status === 'fulfilled' && outcome.value.role() === role) opened.use(outcome.value);
      }
    }
    const servers = await Promise.all(opening);
    assert.deepEqual(servers.map((server) => server.role()).toSorted(), ['guest', 'owner']);
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
  await keep(server, 'directory vanished');
  const killed = server.serverPid();
  assert.ok(killed);
  await rename(server.dataDirectory, `${server.dataDirectory}.aside`);
  process.kill(killed, 'SIGKILL');
  await until('the loss is told', () => events.some((event) => /^restart-failed: .* is gone /.test(event)));
  assert.equal(server.serverPid(), undefined);
  await rename(`${server.dataDirectory}.aside`, server.dataDirectory);
  assert.ok(await isKept(server, 'directory vanished'));
});

test('a pid file left by a crash may name any process, or a zombie', {
  skip: process.platform !== 'linux' && 'needs /proc',
}, async () => {
  // The shell becomes a sleep that never asks for the exit status of its child, so that child stays a zombie. The
  // child must not end before: the shell would ask. It ends with the pipe that it reads.
  const script = 'cat <&3 >/dev/null & echo $!; exec sleep 60';
  const parent = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore', 'pipe'] });
  try {
    const [line] = (await once(parent.stdout as Readable, 'data')) as [Buffer];
    const zombie = Number(line.toString());
    const read = (path: string) => readFile(`/proc/${path}`, 'utf8');
    await until('the shell is a sleep', async () => (await read(`${parent.pid}/comm`)) === 'sleep\n');
    (parent.stdio[3] as Writable).end();
    await until('its child is a zombie', async () => / Z /.test(await read(`${zombie}/stat`)));
    for (const pid of [zombie, parent.pid]) {
      const file = [pid, join(dataDir, 'postgres'), 1, 5432, '/nowhere', '', '1 1', 'ready', ''].join('\n');
      await writeFile(join(dataDir, 'postgres', 'postmaster.pid'), file);
      await using server = await openEmbeddedPostgres({ dataDir });
      assert.equal(server.role(), 'owner');
    }
  } finally {
    parent.kill('SIGKILL');
  }
});
