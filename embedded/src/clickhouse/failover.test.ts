import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createTelemetryClient } from '@gatehouse/store';
import { rowsOf } from '@gatehouse/store/testing';
import { isRunning, openTestEngine, removeDirectory, waitFor } from '../testing/test-engine.ts';
import { type EngineEvent, openEmbeddedClickHouse } from './index.ts';

describe('an engine that dies', () => {
  for (const signal of ['SIGKILL', 'SIGSEGV'] as const) {
    test(`of ${signal} restarts with every acknowledged row`, async () => {
      await using telemetry = await openTestEngine();
      const { engine } = telemetry;
      await using db = await telemetry.createDatabase();
      await db.client.command({ query: 'CREATE TABLE kept (n UInt32) ENGINE = MergeTree ORDER BY n' });
      let acknowledged = 0;
      for (let round = 0; round < 3; round++) {
        const before = engine.enginePid() ?? 0;
        const writing = (async () => {
          for (;;) {
            await db.client.insert({ table: 'kept', values: [[acknowledged]], columns: ['n'] });
            acknowledged++;
          }
        })();
        const target = acknowledged + 5;
        await waitFor('rows', () => acknowledged >= target);
        process.kill(before, signal);
        await assert.rejects(writing);
        const count = () =>
          rowsOf<{ n: string }>(db.client, 'SELECT count() AS n FROM kept').catch(() => null);
        const [row] = await waitFor('the engine', count);
        assert.ok(Number(row?.n) >= acknowledged, `${row?.n} rows of ${acknowledged}`);
        assert.notEqual(engine.enginePid(), before);
        assert.equal(engine.role(), 'leader');
        acknowledged = Number(row?.n);
      }
      assert.equal(telemetry.events.filter(({ kind }) => kind === 'lost').length, 3);
    });
  }
});

describe('several processes', () => {
  test('that open a directory at once share one engine', async () => {
    await using directory = await temporaryDirectory();
    const open = () => openEmbeddedClickHouse({ dataDir: directory.path });
    const engines = await Promise.all([open(), open(), open()]);
    try {
      const roles = engines.map((engine) => engine.role()).sort();
      assert.deepEqual(roles, ['follower', 'follower', 'leader']);
      assert.equal(new Set(engines.map((engine) => engine.enginePid())).size, 1);
    } finally {
      for (const engine of engines) await engine[Symbol.asyncDispose]();
    }
  });

  test('a follower becomes the leader when the leader is killed, and its client keeps working', async () => {
    await using directory = await temporaryDirectory();
    await using leader = await startHolder(directory.path);
    assert.equal(leader.opened.role, 'leader');
    await using follower = await openEmbeddedClickHouse({ dataDir: directory.path });
    assert.deepEqual([follower.role(), follower.enginePid()], ['follower', leader.opened.pid]);
    await using client = createTelemetryClient(follower, { database: null });
    assert.deepEqual(await rowsOf(client, 'SELECT 1 AS one'), [{ one: 1 }]);

    leader.child.kill('SIGKILL');
    await waitFor(
      'the follower to lead',
      () => follower.role() === 'leader' && follower.enginePid() !== null,
    );
    assert.notEqual(follower.enginePid(), leader.opened.pid);
    assert.deepEqual(await rowsOf(client, 'SELECT 2 AS two'), [{ two: 2 }]);
    assert.equal(isRunning(leader.opened.pid), false);
  });

  test('a follower becomes the leader when the leader closes', async () => {
    await using directory = await temporaryDirectory();
    const leader = await openEmbeddedClickHouse({ dataDir: directory.path });
    await using follower = await openEmbeddedClickHouse({ dataDir: directory.path });
    assert.equal(follower.role(), 'follower');
    await leader[Symbol.asyncDispose]();
    await waitFor(
      'the follower to lead',
      () => follower.role() === 'leader' && follower.enginePid() !== null,
    );
  });

  test('a killed leader leaves no engine behind, not even one that runs a query', async () => {
    await using directory = await temporaryDirectory();
    await using leader = await startHolder(directory.path);
    await using client = createTelemetryClient({ socketPath: leader.opened.socketPath }, { database: null });
    const slow = client.query({ query: 'SELECT sum(sipHash64(number)) FROM numbers(100000000000)' });
    slow.catch(() => {});
    const running =
      "SELECT 1 FROM system.processes WHERE query LIKE '%100000000000)%' AND query NOT LIKE '%processes%'";
    await waitFor('the query to run', async () => (await rowsOf(client, running)).length > 0);
    leader.child.kill('SIGKILL');
    await waitFor('the engine to end', () => !isRunning(leader.opened.pid), 5_000);
    await assert.rejects(slow);
  });
});

describe('opening', () => {
  test('keeps everything to this user, and disposal leaves no process and no socket', async () => {
    await using directory = await temporaryDirectory();
    const engine = await openEmbeddedClickHouse({ dataDir: join(directory.path, 'new', 'data') });
    const home = join(directory.path, 'new', 'data', 'clickhouse');
    assert.equal((await stat(home)).mode & 0o777, 0o700);
    assert.equal((await stat(engine.socketPath)).mode & 0o777, 0o600);
    const pid = engine.enginePid() ?? 0;
    assert.ok(isRunning(pid));
    if (process.platform === 'linux') {
      const group = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /s, '').split(' ')[2];
      assert.equal(Number(group), pid, "Ctrl-C would reach it in the terminal's process group");
    }
    await engine[Symbol.asyncDispose]();
    assert.equal(isRunning(pid), false);
    assert.deepEqual(await readdir(home), ['data']);
    assert.equal(engine.enginePid(), null);
  });

  test('works where the path is too long for a socket', async () => {
    await using directory = await temporaryDirectory();
    await using engine = await openEmbeddedClickHouse({ dataDir: join(directory.path, 'long'.repeat(30)) });
    assert.ok(Buffer.byteLength(engine.socketPath) <= 107);
    assert.ok(engine.socketPath.startsWith(tmpdir()));
    await using client = createTelemetryClient(engine, { database: null });
    assert.deepEqual(await rowsOf(client, 'SELECT 1 AS one'), [{ one: 1 }]);
    await removeDirectory(join(engine.socketPath, '..'));
  });

  test('throws one sentence that names the directory that cannot be used', async () => {
    await using directory = await temporaryDirectory();
    const dataDir = join(directory.path, 'file');
    await writeFile(dataDir, '');
    await assert.rejects(openEmbeddedClickHouse({ dataDir }), (error: Error) => {
      assert.match(
        error.message,
        /^The telemetry directory \S+file\/clickhouse cannot be used: E\w+: [^\n]+$/,
      );
      return true;
    });
  });

  test('succeeds when the engine cannot start yet, and recovers by itself', async () => {
    await using directory = await temporaryDirectory();
    const events: EngineEvent[] = [];
    const obstacle = join(directory.path, 'clickhouse', 'data');
    await mkdir(join(directory.path, 'clickhouse'));
    await writeFile(obstacle, 'not a directory');
    await using engine = await openEmbeddedClickHouse({
      dataDir: directory.path,
      readyTimeoutMs: 200,
      onEvent: (event) => events.push(event),
    });
    assert.equal(engine.enginePid(), null);
    assert.equal(events[0]?.kind, 'unavailable');
    await removeDirectory(obstacle);
    await waitFor('the engine', () => engine.enginePid());
    assert.equal(engine.role(), 'leader');
  });
});

async function temporaryDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'gatehouse-engine-'));
  return { path, [Symbol.asyncDispose]: () => removeDirectory(path) };
}

type Holder = AsyncDisposable & {
  readonly child: ChildProcess;
  readonly opened: { readonly role: string; readonly pid: number; readonly socketPath: string };
};

async function startHolder(dataDir: string): Promise<Holder> {
  const child = fork(join(import.meta.dirname, '..', 'testing', 'engine-holder.fixture.ts'), [dataDir], {
    execArgv: [],
  });
  const opened = Promise.withResolvers<{ role: string; pid: number }>();
  child.on('message', (message: { kind: string; role: string; pid: number }) => {
    if (message.kind === 'opened') opened.resolve(message);
  });
  child.on('exit', () => opened.reject(new Error('the holder ended before it opened the engine')));
  const { role, pid } = await opened.promise;
  return {
    child,
    opened: { role, pid, socketPath: join(dataDir, 'clickhouse', 'engine.sock') },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) {
        const exit = once(child, 'exit');
        child.send('stop');
        await exit;
      }
    },
  };
}
