import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SMALL_BODY_BYTES } from '../bodies/held-body.ts';
import type { Usage, UsageReader } from '../formats/protocol.ts';
import { MemberReader } from '../wire/member-reader.ts';
import { DeferredUsageReader } from './deferred-usage.ts';

/** Reads the usage, and counts what it is given. */
class Counting implements UsageReader {
  bytes = 0;
  readonly #member = new MemberReader('usage');

  get usage(): Usage | undefined {
    return this.#member.value as Usage | undefined;
  }

  push(chunk: Buffer): void {
    this.bytes += chunk.length;
    this.#member.push(chunk);
  }
}

const PIECE_BYTES = 64 * 1024;

function piecesOf(json: Buffer): Uint8Array<ArrayBuffer>[] {
  return Array.from(
    { length: Math.ceil(json.length / PIECE_BYTES) },
    (_, at) => new Uint8Array(json.subarray(at * PIECE_BYTES, (at + 1) * PIECE_BYTES)),
  );
}

const endOfTurn = () => new Promise((resolve) => setImmediate(resolve));

async function readAll(reader: DeferredUsageReader): Promise<void> {
  await new Promise<void>((resolve) => reader.whenAllRead(resolve));
}

describe('the usage of an answer that no caller will get', () => {
  const used = { input: 3 };
  for (const length of [10, SMALL_BODY_BYTES, 1_000_000]) {
    const json = Buffer.from(JSON.stringify({ text: 'x'.repeat(length), usage: used }));

    for (const share of [0, 0.3, 0.9, 1]) {
      it(`is read where ${share} of it had come, with a text of ${length} bytes`, async () => {
        const at = Math.floor(json.length * share);
        const reader = new DeferredUsageReader(new Counting(), piecesOf(json.subarray(0, at)), () => {});
        for (let from = at; from < json.length; from += 10_000)
          reader.push(json.subarray(from, Math.min(from + 10_000, json.length)));
        await readAll(reader);
        assert.deepEqual(reader.usage, used);
        assert.equal(reader.waitingBytes, 0);
      });
    }
  }

  it('is read at once of a small answer', () => {
    const usage = new Counting();
    const reader = new DeferredUsageReader(usage, piecesOf(Buffer.alloc(SMALL_BODY_BYTES)), () => {});
    assert.deepEqual([usage.bytes, reader.waitingBytes], [SMALL_BODY_BYTES, 0]);
  });

  it('is read in turns, a piece in each, however many callers leave at once', async () => {
    const many = Array.from({ length: 8 }, () => {
      const usage = new Counting();
      return {
        usage,
        reader: new DeferredUsageReader(usage, piecesOf(Buffer.alloc(10 * PIECE_BYTES)), () => {}),
      };
    });
    const read = () => many.reduce((sum, { usage }) => sum + usage.bytes, 0);
    let before = 0;
    while (before < 80 * PIECE_BYTES) {
      await endOfTurn();
      // This callback and the reader's change places within a turn now and then.
      assert.ok(read() - before <= 2 * PIECE_BYTES);
      before = read();
      const each = many.map(({ usage }) => usage.bytes);
      assert.ok(Math.max(...each) - Math.min(...each) <= PIECE_BYTES, 'all go on alike');
    }
    assert.ok(many.every(({ reader }) => reader.waitingBytes === 0));
  });

  it('frees what it has read, and what it is not to read any more', async () => {
    const pieces = piecesOf(Buffer.alloc(4 * PIECE_BYTES));
    let reads = 0;
    const reader = new DeferredUsageReader(new Counting(), pieces, () => {
      reads += 1;
    });
    for (let turn = 0; turn < 100 && reads < 2; turn += 1) await endOfTurn();
    assert.deepEqual(
      pieces.map(({ length }) => length),
      [0, 0, PIECE_BYTES, PIECE_BYTES],
    );
    reader.close();
    assert.ok(pieces.every(({ length }) => length === 0));
    await endOfTurn();
    assert.equal(reads, 2);
  });
});
