import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { UnreadAnswer, UnreadAnswers } from './unread-answers.ts';

const KIB = 1024;
const PIECE = 256 * KIB;

/** A connection that takes what was written when the test says so. */
class SlowResponse extends EventEmitter {
  destroyed = false;
  isEnded = false;
  written = 0;
  writableLength = 0;

  write(bytes: Uint8Array): boolean {
    this.written += bytes.length;
    this.writableLength += bytes.length;
    return false;
  }

  end(last: string | Uint8Array = ''): void {
    this.isEnded = true;
    this.writableLength += last.length;
  }

  async take(): Promise<void> {
    this.writableLength = 0;
    this.emit(this.isEnded ? 'close' : 'drain');
    await nextTurn();
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

function open(limitBytes = 64 * KIB * KIB, shareBytes = limitBytes) {
  const delays = new Map<() => void, number>();
  const timers = {
    after(ms: number, callback: () => void) {
      delays.set(callback, ms);
      return () => delays.delete(callback);
    },
  };
  const unread = new UnreadAnswers({ limitBytes, shareBytes, timers });
  return {
    unread,
    delays,
    begin(owner: string, bytes: number, keptBytes?: number) {
      const response = new SlowResponse();
      const answer = new UnreadAnswer(unread, owner, response as unknown as ServerResponse);
      const written = answer.write(Buffer.alloc(bytes), keptBytes).then(() => answer.end());
      return { response, answer, written };
    },
  };
}

const closed = (...all: { response: SlowResponse }[]) => all.map(({ response }) => response.destroyed);

describe('unread answers', () => {
  it('are written a piece at a time, and counted until they are taken', async () => {
    const { unread, begin, delays } = open();
    const { response, written } = begin('a', 2 * PIECE + 1);
    assert.deepEqual([response.written, unread.bytes], [PIECE, 2 * PIECE + 1]);
    await response.take();
    assert.deepEqual([response.written, unread.bytes], [2 * PIECE, 2 * PIECE + 1]);
    await response.take();
    assert.deepEqual([response.written, unread.bytes], [2 * PIECE + 1, 2 * PIECE + 1]);
    await response.take();
    await written;
    assert.equal(response.isEnded, true);
    assert.deepEqual([unread.bytes, delays.size, response.listenerCount('close')], [0, 0, 1]);
  });

  it('are given half a minute for each piece, and for the end', async () => {
    const { unread, begin, delays } = open();
    const stalled = begin('a', 3 * PIECE);
    await stalled.response.take();
    const [[later, ms] = []] = [...delays];
    assert.deepEqual([delays.size, ms], [1, 30_000]);
    later?.();
    await stalled.written;
    assert.deepEqual(
      [closed(stalled), stalled.answer.isClosed, stalled.response.isEnded],
      [[true], true, false],
    );
    assert.deepEqual([unread.bytes, delays.size], [0, 0]);

    const response = new SlowResponse();
    const small = new UnreadAnswer(unread, 'a', response as unknown as ServerResponse);
    small.end('small');
    assert.deepEqual([unread.bytes, [...delays.values()]], [5, [30_000]]);
    await response.take();
    assert.deepEqual([unread.bytes, delays.size, small.isClosed], [0, 0, false]);
  });

  it('of one owner are closed beyond its share: those of which nothing was taken for longest', async () => {
    const { unread, begin } = open(100 * PIECE, 8 * PIECE);
    const [first, second, third] = [begin('a', 3 * PIECE), begin('a', 3 * PIECE), begin('a', 2 * PIECE)];
    const other = begin('b', 8 * PIECE);
    await first.response.take();
    const fourth = begin('a', PIECE);
    assert.deepEqual(closed(first, second, third, fourth, other), [false, true, false, false, false]);
    assert.equal(unread.bytes, 14 * PIECE);
    const fifth = begin('a', 5 * PIECE);
    assert.deepEqual(closed(first, third, fourth, fifth, other), [true, true, false, false, false]);
    // One answer may be larger than the share.
    const large = begin('a', 20 * PIECE);
    assert.deepEqual(closed(fourth, fifth, large, other), [true, true, false, false]);
    assert.equal(unread.bytes, 28 * PIECE);
  });

  it('of all owners are closed beyond the limit: of the owner that has most', async () => {
    const { unread, begin } = open(10 * PIECE);
    const [one, two, three] = [begin('a', 3 * PIECE), begin('a', 3 * PIECE), begin('a', 2 * PIECE)];
    const small = begin('b', 2 * PIECE);
    const reader = begin('c', 3 * PIECE);
    assert.deepEqual(closed(one, two, three, small, reader), [true, false, false, false, false]);
    assert.equal(unread.bytes, 10 * PIECE);
    const another = begin('d', 20 * PIECE);
    assert.deepEqual(closed(two, three, small, reader, another), [true, true, true, true, false]);
    assert.equal(unread.bytes, 20 * PIECE);
  });

  it('stay bounded under any number of connections of any number of owners', async () => {
    const { unread, begin } = open(64 * PIECE, 16 * PIECE);
    const all = Array.from({ length: 2_000 }, (_, number) =>
      begin(`owner ${number % 50}`, ((number % 9) + 1) * PIECE),
    );
    assert.ok(unread.bytes <= 64 * PIECE, String(unread.bytes));
    const left = all.filter(({ response }) => !response.destroyed);
    assert.equal(
      left.reduce((sum, { answer }) => sum + answer.keptBytes, 0),
      unread.bytes,
    );
    for (const { response } of left) response.destroy();
    await Promise.all(all.map(({ written }) => written));
    assert.equal(unread.bytes, 0);
  });

  it('that were ended elsewhere are counted, and have their time there', async () => {
    const { unread, delays } = open();
    const response = new SlowResponse();
    response.end('elsewhere');
    new UnreadAnswer(unread, 'a', response as unknown as ServerResponse).countEnded();
    assert.deepEqual([unread.bytes, delays.size], [9, 0]);
    await response.take();
    assert.deepEqual([unread.bytes, response.destroyed], [0, false]);
  });

  it('that share their bytes count what is being written', async () => {
    const { unread, begin } = open();
    begin('a', 40 * PIECE, 0);
    assert.equal(unread.bytes, PIECE);
  });
});
