import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ByteBudget } from '../bodies/byte-budget.ts';
import { ReadError } from '../readers/reader-lane.ts';
import type { ReaderPool } from '../readers/reader-pool.ts';
import { createManualTime } from '../testing/manual-time.ts';
import { createEcho } from './echo.ts';

describe('the echo', () => {
  /** Sends to an echo, whose readers give this, and which has so much memory for answers: what the listener is told. */
  const send = (done: Promise<unknown>, bodies = new ByteBudget(0, 0)) => {
    const read: { owner?: string; cancelled?: Error } = {};
    const readers = {
      read(owner: string) {
        read.owner = owner;
        return { done, cancel: (error: Error) => (read.cancelled = error) };
      },
    } as unknown as ReaderPool;
    const told: unknown[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const call = createEcho(createManualTime().clock, readers, bodies).send(
      {
        owner: 'an organisation',
        path: '/chat/completions',
        query: {},
        headers: {},
        body: Buffer.from('{}'),
        timeoutMs: 1_000,
        onBodySent: () => {},
      },
      {
        onStart() {},
        onHead: (status, headers) => told.push(status, headers['retry-after']),
        onData: (chunk) => told.push(JSON.parse(String(chunk)).error?.code),
        onEnd: resolve,
        onFailure(error) {
          told.push(error);
          resolve();
        },
      },
    );
    return { read, call, told, ended: promise };
  };

  it('takes of its organisation’s share, and answers 429 where too much of that waits', async () => {
    for (const failure of ['queue_full', 'not_begun_in_time'] as const) {
      const { read, told, ended } = send(Promise.reject(new ReadError(failure)));
      await ended;
      assert.equal(read.owner, 'an organisation');
      assert.deepEqual(told, [429, '1', 'rate_limit_exceeded']);
    }
  });

  it('keeps its answer in the memory of all answers until it is sent, and answers 429 where there is none', async () => {
    const text = 'x'.repeat(64 * 1024);
    const answers = [{ parts: [{ kind: 'text', text }], finish: 'stop', tokens: 1 }];
    const figures = { promptTokens: 1, completionTokens: 1, characters: text.length };
    const result = { kind: 'answers', model: 'm', answers, isStream: false, showsUsage: true, ...figures };
    const read = { result, body: Buffer.alloc(0) };
    // Of 128 KiB, 64 are free.
    for (const [bytes, status] of [
      [128 * 1024, 200],
      [64 * 1024, 429],
    ] as const) {
      const bodies = new ByteBudget(bytes, bytes);
      const { told, call, ended } = send(Promise.resolve(read), bodies);
      call.pause();
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(bodies.takenBytes, status === 200 ? 64 * 1024 : 0);
      call.resume();
      await ended;
      await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual([told[0], bodies.takenBytes], [status, 0]);
    }
  });

  it('gives the memory back where the caller leaves', async () => {
    const bodies = new ByteBudget(1024 ** 2, 1024 ** 2);
    const vectors = Buffer.alloc(128 * 1024);
    const result = { kind: 'vectors', model: 'm', dimensions: 256, isBase64: false, promptTokens: 1 };
    const { call } = send(Promise.resolve({ result, body: vectors }), bodies);
    call.pause();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(bodies.takenBytes, 64 * 1024);
    call.abort();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(bodies.takenBytes, 0);
  });

  it('fails where what was read ended its thread', async () => {
    const error = new ReadError('thread_ended');
    const { told, ended } = send(Promise.reject(error));
    await ended;
    assert.deepEqual(told, [error]);
  });

  it('reads no more for a caller that left', () => {
    const { read, call } = send(new Promise(() => {}));
    call.abort();
    assert.match(String(read.cancelled), /aborted/);
  });
});
