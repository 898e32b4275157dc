import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SMALL_BODY_BYTES } from '../bodies/held-body.ts';
import { MemberReader } from '../protocols/member-reader.ts';
import type { Usage, UsageReader } from '../protocols/protocol.ts';
import { CollectedAnswer } from './collected-answer.ts';

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

const PIECE_BYTES = 10_000;

function collect(json: Buffer) {
  const usage = new Counting();
  const answer = new CollectedAnswer(() => usage);
  for (let at = 0; at < json.length; at += PIECE_BYTES) answer.append(json.subarray(at, at + PIECE_BYTES));
  return { answer, usage };
}

describe('an answer that is read whole', () => {
  const used = { input: 3 };
  for (const length of [10, SMALL_BODY_BYTES - 100, SMALL_BODY_BYTES + 100, 1_000_000]) {
    const json = Buffer.from(JSON.stringify({ text: 'x'.repeat(length), usage: used }));

    it(`says what it used when it is given up, with a text of ${length} bytes`, () => {
      const { answer } = collect(json);
      assert.deepEqual(answer.giveUp().usage, used);
    });

    it(`says it as well when it is given up half-way, with a text of ${length} bytes`, () => {
      const half = json.length / 2;
      const { answer } = collect(json.subarray(0, half));
      const usage = answer.giveUp();
      assert.equal(usage.usage, undefined);
      usage.push(json.subarray(half));
      assert.deepEqual(usage.usage, used);
    });
  }

  it('reads nothing of a small answer as it comes, and of a large one at most 64 KiB when it is given up', () => {
    const small = collect(Buffer.alloc(SMALL_BODY_BYTES, 'x'));
    assert.equal(small.usage.bytes, 0);
    small.answer.giveUp();
    assert.equal(small.usage.bytes, SMALL_BODY_BYTES);
    const large = collect(Buffer.alloc(1_000_000, 'x'));
    assert.equal(large.usage.bytes, 1_000_000);
    large.answer.giveUp();
    assert.equal(large.usage.bytes, 1_000_000);
  });

  it('frees its memory when it is given up', () => {
    const { answer } = collect(Buffer.alloc(2 ** 24, 'x'));
    const before = process.memoryUsage().arrayBuffers;
    answer.giveUp();
    assert.ok(before - process.memoryUsage().arrayBuffers >= 2 ** 24);
    assert.equal(answer.blocks.length, 0);
  });
});
