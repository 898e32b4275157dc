import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Backlog } from './backlog.ts';
import type { FinishedRequest } from './finished-request.ts';
import { FORMAT, InstanceDirectory } from './instance-directory.ts';
import { OrphanAdopter } from './orphan-adopter.ts';
import { encodeLine } from './record-line.ts';
import { FakeProcesses, finished, memoryLog, temporaryDirectory } from './testing.ts';
import { systemTiming } from './timing.ts';

const account = { organizationId: randomUUID(), projectId: randomUUID(), keyIds: [randomUUID()] };
const LEASE_MS = 60_000;

describe('adopting the journals of dead processes', () => {
  it('takes whole records and drops the torn one, wherever it was cut', async () => {
    await using directory = await temporaryDirectory();
    const adopter = await createAdopter(directory.path);
    const whole = [finished(account), finished(account)];
    const torn = Buffer.from(encodeLine(finished(account)));
    for (let length = 0; length < torn.length; length += 1) {
      const bytes = Buffer.concat([Buffer.from(whole.map(encodeLine).join('')), torn.subarray(0, length)]);
      await leaveBehind(directory.path, { 'X.1.open': bytes });
      await adopter.adopt();
      const [segment] = adopter.backlog.all();
      assert.ok(segment, `cut at ${length}`);
      assert.equal(segment.records, 2);
      assert.deepEqual((await segment.read(0)).requests, whole);
      await segment.paid('ledger');
      await segment.paid('telemetry');
      assert.deepEqual(await readdir(directory.path), [adopter.instance.id]);
    }
    assert.deepEqual(await readdir(adopter.instance.path), ['owner']);
  });

  it('keeps tokens, owings and order', async () => {
    await using directory = await temporaryDirectory();
    const adopter = await createAdopter(directory.path);
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
    await adopter.adopt();
    assert.deepEqual(
      adopter.backlog.all().map(({ token, owes }) => [token, [...owes].sort().join('+')]),
      [
        [`${id}.2.${size}`, 'ledger+telemetry'],
        [`${id}.9.${size}`, 'telemetry'],
        [`${id}.10.${size}`, 'ledger'],
        [`${id}.11.${size}`, 'ledger+telemetry'],
      ],
    );
    for (const segment of adopter.backlog.all()) assert.equal((await segment.read(0)).requests.length, 1);
    assert.deepEqual(await readdir(directory.path), [adopter.instance.id]);
  });

  it('leaves the living alone, and whoever writes in a form it does not know', async () => {
    await using directory = await temporaryDirectory();
    const adopter = await createAdopter(directory.path);
    adopter.processes.dead.delete('victim');
    const living = await leaveBehind(directory.path, { 'X.1.open': encodeLine(finished(account)) });
    const newer = await leaveBehind(directory.path, { 'X.1.open': 'who knows' }, { format: FORMAT + 1 });
    adopter.pass(10 * LEASE_MS);
    await adopter.adopt();
    adopter.pass(10 * LEASE_MS);
    await adopter.adopt();
    assert.equal(adopter.backlog.size, 0);
    assert.deepEqual((await readdir(directory.path)).sort(), [living, newer, adopter.instance.id].sort());
    assert.equal(adopter.messages(40).length, 1, 'said once');
  });

  it('takes what its owner gave up, although that process lives on', async () => {
    await using directory = await temporaryDirectory();
    const adopter = await createAdopter(directory.path);
    adopter.processes.dead.delete('victim');
    await leaveBehind(directory.path, { 'X.1.open': encodeLine(finished(account)) }, { isReleased: true });
    await adopter.adopt();
    assert.equal(adopter.backlog.size, 1);
  });

  it('waits out a lease where it cannot tell, and only while there is no sign of life', async () => {
    await using directory = await temporaryDirectory();
    const adopter = await createAdopter(directory.path);
    adopter.processes.dead.delete('victim');
    adopter.processes.unknown.add('victim');
    const unknown = await leaveBehind(directory.path, { 'X.1.open': encodeLine(finished(account)) });
    await leaveBehind(directory.path, { 'X.1.open': encodeLine(finished(account)) }, 'no owner file');
    await leaveBehind(
      directory.path,
      { 'X.1.open': encodeLine(finished(account)), owner: '{"pid":' },
      'no owner file',
    );

    await adopter.adopt();
    adopter.pass(LEASE_MS - 1);
    await adopter.adopt();
    assert.equal(adopter.backlog.size, 0);
    const beat = new Date(1_795_000_000_000);
    await utimes(join(directory.path, unknown, 'owner'), beat, beat);
    adopter.pass(1);
    await adopter.adopt();
    assert.equal(adopter.backlog.size, 2, 'those that nobody owns');
    adopter.pass(LEASE_MS - 1);
    await adopter.adopt();
    assert.equal(adopter.backlog.size, 2, 'the lease began anew with the sign of life');
    adopter.pass(1);
    await adopter.adopt();
    assert.equal(adopter.backlog.size, 3);
  });

  it('gives each segment to exactly one of two that adopt at once', async () => {
    await using directory = await temporaryDirectory();
    const one = await createAdopter(directory.path);
    const other = await createAdopter(directory.path);
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
      await Promise.all([one.adopt(), other.adopt()]);
    }
    const ids: string[] = [];
    for (const segment of [...one.backlog.all(), ...other.backlog.all()]) {
      ids.push(...(await segment.read(0)).requests.map(({ requestId }) => requestId));
    }
    assert.deepEqual(ids.sort(), requests.map(({ requestId }) => requestId).sort());
    assert.deepEqual((await readdir(directory.path)).sort(), [one.instance.id, other.instance.id].sort());
    assert.deepEqual([...one.messages(50), ...other.messages(50)], []);
  });

  async function createAdopter(root: string) {
    let nowMs = 0;
    const timing = { ...systemTiming, now: () => nowMs };
    const processes = new FakeProcesses();
    processes.dead.add('victim');
    const mark = await processes.as('adopter').own();
    const newId = () => randomUUID();
    const instance = await InstanceDirectory.create({ root, mark, timing, newId, confirmAfterMs: 1e9 });
    const backlog = new Backlog();
    const { log, messages } = memoryLog();
    const judge = processes.as('adopter');
    const adopter = new OrphanAdopter({
      root,
      instance,
      backlog,
      processes: judge,
      timing,
      log,
      leaseMs: LEASE_MS,
    });
    const pass = (ms: number) => {
      nowMs += ms;
    };
    return { adopt: () => adopter.adopt(), instance, backlog, processes, messages, pass };
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
