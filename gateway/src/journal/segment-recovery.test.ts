import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rmdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { systemClock } from '@gatehouse/concurrency';
import { Backlog } from './backlog.ts';
import type { FinishedRequest } from './finished-request.ts';
import { FORMAT, InstanceDirectory } from './instance-directory.ts';
import { encodeLine } from './record-line.ts';
import { SegmentRecovery } from './segment-recovery.ts';
import { finished, memoryLog, TestProcesses, temporaryDirectory } from './testing/fixtures.ts';

const account = { organizationId: randomUUID(), projectId: randomUUID(), keyIds: [randomUUID()] };
const LEASE_MS = 60_000;

describe('recovering the segments of dead processes', () => {
  it('keeps whole records and truncates the tail, wherever it was cut', async () => {
    await using directory = await temporaryDirectory();
    const node = await createRecovery(directory.path);
    const whole = [finished(account), finished(account)];
    const tail = Buffer.from(encodeLine(finished(account)));
    for (let length = 0; length < tail.length; length += 1) {
      const bytes = Buffer.concat([Buffer.from(whole.map(encodeLine).join('')), tail.subarray(0, length)]);
      await leaveBehind(directory.path, { 'X.1.open': bytes });
      await node.recover();
      const [segment] = node.backlog.all();
      assert.ok(segment, `cut at ${length}`);
      assert.equal(segment.records, 2);
      const { requests, damaged } = await segment.read(0);
      assert.deepEqual([requests, damaged], [whole, []]);
      assert.equal(segment.length, bytes.length - length, 'the tail is no part of it');
      await segment.acknowledge('ledger');
      await segment.acknowledge('telemetry');
      assert.deepEqual(await readdir(directory.path), [node.instance.id]);
    }
    assert.deepEqual(await readdir(node.instance.path), ['owner']);
  });

  it('keeps tokens, pending sinks and order', async () => {
    await using directory = await temporaryDirectory();
    const node = await createRecovery(directory.path);
    const line = encodeLine(finished(account));
    const size = Buffer.byteLength(line);
    const id = await leaveBehind(directory.path, {
      'X.11.open': line,
      [`X.9.1.${size}.owes-telemetry`]: line,
      [`X.10.1.${size}.owes-ledger`]: line,
      [`X.2.1.${size}.owes-ledger-telemetry`]: `${line}bytes that were never acknowledged`,
      'X.12.open': '',
      'owner.new': '',
    });
    await node.recover();
    assert.deepEqual(
      node.backlog.all().map(({ token, pendingSinks }) => [token, [...pendingSinks].sort().join('+')]),
      [
        [`${id}.2.${size}`, 'ledger+telemetry'],
        [`${id}.9.${size}`, 'telemetry'],
        [`${id}.10.${size}`, 'ledger'],
        [`${id}.11.${size}`, 'ledger+telemetry'],
      ],
    );
    for (const segment of node.backlog.all()) assert.equal((await segment.read(0)).requests.length, 1);
    assert.deepEqual(await readdir(directory.path), [node.instance.id]);
  });

  it('leaves the segments of live processes, and those of a format that it does not know', async () => {
    await using directory = await temporaryDirectory();
    const node = await createRecovery(directory.path);
    node.processes.dead.delete('victim');
    const alive = await leaveBehind(directory.path, { 'X.1.open': encodeLine(finished(account)) });
    const newer = await leaveBehind(directory.path, { 'X.1.open': 'unreadable' }, { format: FORMAT + 1 });
    node.pass(10 * LEASE_MS);
    await node.recover();
    node.pass(10 * LEASE_MS);
    await node.recover();
    assert.equal(node.backlog.size, 0);
    assert.deepEqual((await readdir(directory.path)).sort(), [alive, newer, node.instance.id].sort());
    assert.equal(node.messages(40).length, 1, 'logged once');
    assert.equal(node.unreadable(), 1);
  });

  it('names what it cannot read once, counts it, recovers the rest, and this too when it can', async () => {
    await using directory = await temporaryDirectory();
    const node = await createRecovery(directory.path);
    const line = encodeLine(finished(account));
    const size = Buffer.byteLength(line);
    // What cannot be read is a directory here: root reads files of every mode.
    const closed = await leaveBehind(directory.path, {}, 'no owner file');
    await mkdir(join(directory.path, closed, 'owner'));
    const partly = await leaveBehind(directory.path, {
      [`X.1.1.${size}.owes-ledger`]: line,
      'X.3.open': line,
    });
    const segment = join(directory.path, partly, `${partly}.2.open`);
    await mkdir(segment);
    for (let pass = 0; pass < 3; pass += 1) await node.recover();
    assert.equal(node.backlog.size, 2, 'the segments around it');
    assert.equal(node.unreadable(), 2);
    assert.deepEqual(
      node.lines
        .filter(({ level }) => level === 50)
        .map(({ event, path }) => [event, path])
        .sort(),
      [join(directory.path, closed), segment].sort().map((path) => ['journal.recovery_failed', path]),
    );
    await rmdir(segment);
    await writeFile(segment, line);
    await rmdir(join(directory.path, closed, 'owner'));
    await node.recover();
    assert.deepEqual([node.backlog.size, node.unreadable()], [3, 0]);
  });

  it('recovers a released directory although its process is alive', async () => {
    await using directory = await temporaryDirectory();
    const node = await createRecovery(directory.path);
    node.processes.dead.delete('victim');
    await leaveBehind(directory.path, { 'X.1.open': encodeLine(finished(account)) }, { isReleased: true });
    await node.recover();
    assert.equal(node.backlog.size, 1);
  });

  it('waits for the length of a lease where it cannot know, and only while there is no heartbeat', async () => {
    await using directory = await temporaryDirectory();
    const node = await createRecovery(directory.path);
    node.processes.dead.delete('victim');
    node.processes.unknown.add('victim');
    const unknown = await leaveBehind(directory.path, { 'X.1.open': encodeLine(finished(account)) });
    await leaveBehind(directory.path, { 'X.1.open': encodeLine(finished(account)) }, 'no owner file');
    await leaveBehind(
      directory.path,
      { 'X.1.open': encodeLine(finished(account)), owner: '{"pid":' },
      'no owner file',
    );

    await node.recover();
    node.pass(LEASE_MS - 1);
    await node.recover();
    assert.equal(node.backlog.size, 0);
    const beat = new Date(1_795_000_000_000);
    await utimes(join(directory.path, unknown, 'owner'), beat, beat);
    node.pass(1);
    await node.recover();
    assert.equal(node.backlog.size, 2, 'those without an owner');
    node.pass(LEASE_MS - 1);
    await node.recover();
    assert.equal(node.backlog.size, 2, 'the heartbeat restarts the lease');
    node.pass(1);
    await node.recover();
    assert.equal(node.backlog.size, 3);
  });

  it('gives each segment to exactly one of two processes that recover at once', async () => {
    await using directory = await temporaryDirectory();
    const one = await createRecovery(directory.path);
    const other = await createRecovery(directory.path);
    const requests: FinishedRequest[] = [];
    for (let round = 0; round < 10; round += 1) {
      const batch = Array.from({ length: 20 }, () => finished(account));
      requests.push(...batch);
      const files = batch.map((request, n) => {
        const line = encodeLine(request);
        const name = n % 2 ? `X.${n}.open` : `X.${n}.1.${Buffer.byteLength(line)}.owes-ledger-telemetry`;
        return [name, line];
      });
      await leaveBehind(directory.path, Object.fromEntries(files));
      await Promise.all([one.recover(), other.recover()]);
    }
    const ids: string[] = [];
    for (const segment of [...one.backlog.all(), ...other.backlog.all()]) {
      ids.push(...(await segment.read(0)).requests.map(({ requestId }) => requestId));
    }
    assert.deepEqual(ids.sort(), requests.map(({ requestId }) => requestId).sort());
    assert.deepEqual((await readdir(directory.path)).sort(), [one.instance.id, other.instance.id].sort());
    assert.deepEqual([...one.messages(50), ...other.messages(50)], []);
  });

  async function createRecovery(root: string) {
    let nowMs = 0;
    const clock = { ...systemClock, monotonicMs: () => nowMs };
    const processes = new TestProcesses();
    processes.dead.add('victim');
    const identity = processes.as('recovering').own();
    const newId = () => randomUUID();
    const instance = await InstanceDirectory.create({ root, identity, clock, newId, confirmAfterMs: 1e9 });
    const backlog = new Backlog();
    const { log, lines, messages } = memoryLog();
    const own = processes.as('recovering');
    const recovery = new SegmentRecovery({
      root,
      instance,
      backlog,
      processes: own,
      clock,
      log,
      leaseMs: LEASE_MS,
    });
    const pass = (ms: number) => {
      nowMs += ms;
    };
    const unreadable = () => recovery.unreadable;
    return {
      recover: () => recovery.recover(),
      unreadable,
      instance,
      backlog,
      processes,
      lines,
      messages,
      pass,
    };
  }

  /** The directory of a process named `victim`; X in a file name stands for the instance. Returns the instance. */
  async function leaveBehind(
    root: string,
    files: Record<string, string | Buffer>,
    owner: { format?: number; isReleased?: boolean } | 'no owner file' = {},
  ): Promise<string> {
    const id = randomUUID();
    await mkdir(join(root, id));
    for (const [name, content] of Object.entries(files))
      await writeFile(join(root, id, name.replace('X', id)), content);
    if (owner !== 'no owner file') {
      const content = {
        pid: 1,
        startedAt: 'victim',
        world: 'test',
        format: FORMAT,
        isReleased: false,
        ...owner,
      };
      await writeFile(join(root, id, 'owner'), JSON.stringify(content));
    }
    return id;
  }
});
