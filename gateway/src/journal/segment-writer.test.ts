import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { systemClock } from '@gatehouse/concurrency';
import { Backlog } from './backlog.ts';
import type { FinishedRequest } from './finished-request.ts';
import { InstanceDirectory } from './instance-directory.ts';
import { encodeLine } from './record-line.ts';
import { SegmentRecovery } from './segment-recovery.ts';
import { SegmentWriter } from './segment-writer.ts';
import { SimulatedProcess } from './testing/crash-simulator.ts';
import { finished, memoryLog, TestProcesses, temporaryDirectory } from './testing/fixtures.ts';

const account = { organizationId: randomUUID(), projectId: randomUUID(), keyIds: [randomUUID()] };
const lineLength = Buffer.byteLength(encodeLine(finished(account)));

describe('appending', () => {
  const writers: SegmentWriter[] = [];
  afterEach(async () => {
    for (const writer of writers.splice(0)) await writer.close().catch(() => undefined);
  });

  async function openWriter(root: string, limits = {}) {
    let nowMs = 0;
    const clock = { ...systemClock, monotonicMs: () => nowMs };
    const processes = new TestProcesses();
    const identity = processes.as('writer').own();
    const instance = await InstanceDirectory.create({
      root,
      identity,
      clock,
      newId: () => randomUUID(),
      confirmAfterMs: 30_000,
    });
    const backlog = new Backlog();
    const { log, events } = memoryLog();
    const options = {
      instance,
      backlog,
      log,
      maxSegmentRecords: 1_000,
      maxSegmentBytes: 1e9,
      onProgress() {},
    };
    const writer = new SegmentWriter({ ...options, ...limits });
    writers.push(writer);
    const pass = (ms: number) => {
      nowMs += ms;
    };
    const append = async (request: FinishedRequest = finished(account)) => {
      await writer.append(encodeLine(request));
      return request.requestId;
    };
    return { writer, append, instance, backlog, events, pass, processes, clock };
  }

  async function recorded(backlog: Backlog): Promise<string[]> {
    const spans = await Promise.all(backlog.all().map((segment) => segment.read(0)));
    return spans.flatMap(({ requests }) => requests.map(({ requestId }) => requestId));
  }

  it('writes all waiting records at once, in their order', async () => {
    await using directory = await temporaryDirectory();
    const simulated = new SimulatedProcess();
    await simulated.run(async () => {
      const { append, backlog } = await openWriter(directory.path);
      const ids = await Promise.all(Array.from({ length: 100 }, () => append()));
      const writes = simulated.trace.filter((operation) => operation === 'write').length;
      assert.ok(writes <= 3, `${writes} writes`);
      assert.deepEqual(await recorded(backlog), ids);
    });
  });

  it('writes the records of one turn of the event loop at once', async () => {
    await using directory = await temporaryDirectory();
    const simulated = new SimulatedProcess();
    await simulated.run(async () => {
      const { append, backlog } = await openWriter(directory.path);
      await append();
      const writes = () => simulated.trace.filter((operation) => operation === 'write').length;
      const before = writes();
      const appends: Promise<string>[] = [];
      for (let n = 0; n < 20; n += 1) {
        appends.push(append());
        // Others run in between, within the turn.
        for (let step = 0; step < 10; step += 1) await Promise.resolve();
      }
      await Promise.all(appends);
      assert.equal(writes() - before, 1);
      assert.equal((await recorded(backlog)).length, 21);
    });
  });

  it('never puts more records into a segment than one insert may have', async () => {
    await using directory = await temporaryDirectory();
    const { append, backlog, writer } = await openWriter(directory.path, { maxSegmentRecords: 7 });
    const appends = Array.from({ length: 50 }, () => append());
    await writer.drain();
    const ids = await Promise.all(appends);
    assert.deepEqual(
      backlog.all().map(({ records }) => records),
      [7, 7, 7, 7, 7, 7, 7, 1],
    );
    assert.deepEqual(await recorded(backlog), ids);
  });

  it('rejects what a full disk has no room for, and goes on when there is room', async () => {
    await using directory = await temporaryDirectory();
    // Room for everything from two lines and a bit on, to two lines and nearly a third.
    for (let bytesLeft = 2 * lineLength; bytesLeft < 3 * lineLength; bytesLeft += 13) {
      const simulated = new SimulatedProcess();
      await simulated.run(async () => {
        const { append, backlog, instance } = await openWriter(directory.path);
        simulated.disk = { bytesLeft, mayTruncate: true };
        const first = await append();
        const second = await append();
        await assert.rejects(append(), { code: 'ENOSPC' });
        await assert.rejects(append(), { code: 'ENOSPC' });
        simulated.disk = undefined;
        const third = await append();
        assert.deepEqual(await recorded(backlog), [first, second, third]);
        assert.deepEqual(await found(directory.path, instance), [first, second, third]);
      });
    }
  });

  it('leaves out what was rejected even when it could not be cut off', async () => {
    await using directory = await temporaryDirectory();
    for (const acknowledged of [0, 2]) {
      const simulated = new SimulatedProcess();
      await simulated.run(async () => {
        const { append, backlog, writer } = await openWriter(directory.path);
        const ids = [];
        for (let n = 0; n < acknowledged; n += 1) ids.push(await append());
        // A whole line of the rejected batch reaches the disk, and it must not count.
        simulated.disk = { bytesLeft: lineLength + 5, mayTruncate: false };
        const rejected = await Promise.allSettled([append(), append(), append()]);
        assert.ok(rejected.every(({ status }) => status === 'rejected'));
        simulated.disk = { bytesLeft: 1e6, mayTruncate: acknowledged === 0 };
        ids.push(await append(), await append());
        await writer.seal();
        assert.deepEqual(await recorded(backlog), ids);
      });
    }
  });

  it('goes on in a new directory when its own was deleted or recovered while it was suspended', async () => {
    await using directory = await temporaryDirectory();
    const { append, instance, backlog, pass, events } = await openWriter(directory.path);
    await append();
    await rm(instance.path, { recursive: true });
    pass(31_000);
    const second = await append();
    assert.deepEqual(await recorded(backlog), [second]);
    assert.deepEqual(await readdir(directory.path), [instance.id]);
    assert.deepEqual(events(), [['error', 'journal.directory_lost']]);
  });

  it('goes on in a new directory when the next segment cannot be created', async () => {
    await using directory = await temporaryDirectory();
    const { append, instance, writer, backlog } = await openWriter(directory.path);
    await append();
    await writer.seal();
    await rm(instance.path, { recursive: true });
    const second = await append();
    assert.deepEqual(await readdir(directory.path), [instance.id]);
    assert.deepEqual((await backlog.all()[1]?.read(0))?.requests[0]?.requestId, second);
  });

  it('does not append to a segment that another process recovered', async () => {
    await using directory = await temporaryDirectory();
    const { append, backlog } = await openWriter(directory.path);
    await append();
    const [segment] = backlog.all();
    assert.ok(segment);
    await rm(segment.path);
    await assert.rejects(segment.read(0), { name: 'SegmentGone' });
    segment.forget();
    const second = await append();
    assert.deepEqual(await recorded(backlog), [second]);
  });

  it('accepts nothing once it is closed, and seals what it has', async () => {
    await using directory = await temporaryDirectory();
    const { append, writer, instance } = await openWriter(directory.path);
    const last = append();
    await writer.close();
    await last;
    await assert.rejects(append(), /closed/);
    const names = (await readdir(instance.path)).filter((name) => name !== 'owner');
    assert.match(names.join(), /^[0-9a-f-]{36}\.1\.1\.\d+\.owes-ledger-telemetry$/);
  });

  /** The segments that another process would recover if this one were killed now. */
  async function found(root: string, victim: InstanceDirectory): Promise<string[]> {
    const { instance, backlog, processes, clock } = await openWriter(root);
    processes.dead.add('writer');
    const files = await readdir(victim.path);
    const content = await Promise.all(
      files.filter((name) => name.endsWith('.open')).map((name) => readFile(join(victim.path, name), 'utf8')),
    );
    assert.ok(content.every((text) => text.endsWith('\n')));
    const { log } = memoryLog();
    const recovery = new SegmentRecovery({
      root,
      instance,
      backlog,
      processes: processes.as('writer'),
      clock,
      log,
      leaseMs: 0,
    });
    await recovery.recover();
    const ids = await recorded(backlog);
    await rm(instance.path, { recursive: true });
    return ids;
  }
});
