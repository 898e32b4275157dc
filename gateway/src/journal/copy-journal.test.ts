import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { JournalCopy } from './copy-journal.ts';
import { FORMAT } from './instance-directory.ts';
import { decodeLines, encodeLine } from './record-line.ts';
import { parseSegmentName } from './segment.ts';
import { finished, temporaryDirectory } from './testing/fixtures.ts';

const account = { organizationId: randomUUID(), projectId: randomUUID(), keyIds: [randomUUID()] };
const ORIGIN = randomUUID();
const LATE = { allPending: true };
const EARLY = { allPending: false };

describe('copying the journal of running gateways', () => {
  it('seals the open segment, keeps the pending sinks of sealed ones, and drops what was never acknowledged', async () => {
    await using journal = await running();
    const [first, second, third] = [line(), line(), line()];
    await journal.put(1, `1.${first.length}.owes-telemetry`, `${first}bytes of a failed write`);
    await journal.put(2, `1.${second.length}.owes-ledger`, second);
    await journal.put(3, 'open', third + first.slice(0, 20));
    const { copies } = await journal.copied([EARLY]);
    assert.deepEqual(copies, [
      { sequence: 1, pendingSinks: ['telemetry'], content: first },
      { sequence: 2, pendingSinks: ['ledger'], content: second },
      { sequence: 3, pendingSinks: ['ledger', 'telemetry'], content: third },
    ]);
  });

  it('keeps a segment that is acknowledged and deleted before the next look', async () => {
    await using journal = await running();
    const text = line();
    const name = await journal.put(1, `1.${text.length}.owes-ledger-telemetry`, text);
    const open = await journal.put(2, 'open', text);
    const { copies } = await journal.copied([
      EARLY,
      async () => {
        await rm(name);
        await rm(open);
      },
      LATE,
    ]);
    assert.deepEqual(
      copies.map(({ sequence, pendingSinks }) => [sequence, pendingSinks]),
      [
        [1, ['ledger', 'telemetry']],
        [2, ['ledger', 'telemetry']],
      ],
    );
  });

  it('reads a segment that grows again, also when it was sealed, acknowledged by one sink and recovered meanwhile', async () => {
    await using journal = await running();
    const [first, second] = [line(), line()];
    const open = await journal.put(1, 'open', first);
    const { copies, records } = await journal.copied([
      EARLY,
      async () => {
        await appendFile(open, second);
        const other = join(journal.root, randomUUID());
        await mkdir(other);
        await rename(open, join(other, `${ORIGIN}.1.2.${(first + second).length}.owes-telemetry`));
      },
      LATE,
    ]);
    assert.deepEqual(copies, [
      { sequence: 1, pendingSinks: ['ledger', 'telemetry'], content: first + second },
    ]);
    assert.equal(records, 2);
  });

  it('takes every sink as pending where a segment is first seen late: an acknowledgement may be newer than the copies of the stores', async () => {
    await using journal = await running();
    const text = line();
    const { copies } = await journal.copied([
      EARLY,
      async () => {
        await journal.put(1, `1.${text.length}.owes-ledger`, text);
      },
      LATE,
    ]);
    assert.deepEqual(copies, [{ sequence: 1, pendingSinks: ['ledger', 'telemetry'], content: text }]);
  });

  it('writes a released directory, and the dead letters', async () => {
    await using journal = await running();
    await mkdir(join(journal.root, 'rejected'));
    await writeFile(join(journal.root, 'rejected', 'x.telemetry'), 'a line');
    await journal.put(1, 'open', line());
    const { files } = await journal.copied([EARLY]);
    const owner = [...files].find(([path]) => path.endsWith('/owner'))?.[1] ?? '';
    assert.deepEqual(JSON.parse(owner), {
      pid: 0,
      startedAt: '',
      world: '',
      format: FORMAT,
      isReleased: true,
    });
    assert.equal(files.get('rejected/x.telemetry'), 'a line');
  });

  it('copies nothing where there is nothing', async () => {
    await using journal = await running();
    await journal.put(1, 'open', '');
    const { files, records } = await journal.copied([EARLY, LATE]);
    assert.deepEqual([files.size, records], [0, 0]);
    const nowhere = new JournalCopy(join(journal.root, 'none'), async () => assert.fail());
    await nowhere.look(EARLY);
    assert.deepEqual(await nowhere.finish(), { segments: 0, records: 0 });
  });

  it('fails on files of an unknown format, which it could misread', async () => {
    await using journal = await running({ format: FORMAT + 1 });
    const copy = new JournalCopy(journal.root, async () => undefined);
    await assert.rejects(copy.look(EARLY), /was written by another version/);
  });
});

function line(): string {
  return encodeLine(finished(account));
}

/** The journal of a running gateway. */
async function running({ format = FORMAT } = {}) {
  const directory = await temporaryDirectory();
  const root = directory.path;
  const instance = join(root, ORIGIN);
  await mkdir(instance);
  const owner = { pid: 1, startedAt: 'x', world: 'y', format, isReleased: false };
  await writeFile(join(instance, 'owner'), JSON.stringify(owner));
  return {
    root,
    async put(sequence: number, rest: string, content: string) {
      const path = join(instance, `${ORIGIN}.${sequence}.${rest}`);
      await writeFile(path, content);
      return path;
    },
    /** Runs the steps, which are looks and what happens between them; returns what was copied. */
    async copied(steps: readonly ({ readonly allPending: boolean } | (() => Promise<void>))[]) {
      const files = new Map<string, string>();
      const copy = new JournalCopy(root, async (path, content) => {
        assert.ok(!files.has(path), `${path} is written twice`);
        files.set(path, Buffer.from(content).toString());
      });
      for (const step of steps) await (typeof step === 'function' ? step() : copy.look(step));
      const { records } = await copy.finish();
      const copies = [];
      for (const [path, content] of files) {
        const name = parseSegmentName('', path.split('/')[1] ?? '');
        if (!name) continue;
        const { requests, damaged, intactBytes } = await decodeLines(Buffer.from(content));
        assert.deepEqual(
          [requests.length, damaged.length, intactBytes, name.isOpen],
          [name.records, 0, name.length, false],
        );
        copies.push({ sequence: name.sequence, pendingSinks: [...name.pendingSinks], content });
      }
      copies.sort((a, b) => a.sequence - b.sequence);
      return { files, copies, records };
    },
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}
