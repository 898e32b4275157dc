import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ReadError } from '../readers/reader-lane.ts';
import type { ReaderPool } from '../readers/reader-pool.ts';
import { createManualTime } from '../testing/manual-time.ts';
import { createEcho } from './echo.ts';

describe('the echo', () => {
  /** Sends to an echo whose readers fail; resolves with what the listener was told. */
  const send = (done: Promise<never>) => {
    const read: { owner?: string; cancelled?: Error } = {};
    const readers = {
      read(owner: string) {
        read.owner = owner;
        return { done, cancel: (error: Error) => (read.cancelled = error) };
      },
    } as unknown as ReaderPool;
    const told: unknown[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const call = createEcho(createManualTime().clock, readers).send(
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
        onData: (chunk) => told.push(JSON.parse(String(chunk)).error.code),
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
