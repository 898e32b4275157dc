import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PermitTimeout, QueueFull } from './fair-scheduler.ts';
import { createMutex, createSemaphore } from './semaphore.ts';

const flush = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('a semaphore', () => {
  it('gives its permits in the order of asking, and each again once it is returned', async () => {
    const semaphore = createSemaphore({ permits: 2 });
    const order: number[] = [];
    const ends = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
    const runs = ends.map(({ promise }, index) =>
      semaphore.run(async () => {
        order.push(index);
        await promise;
        return index;
      }),
    );
    await flush();
    assert.deepEqual(order, [0, 1]);
    ends[1]?.resolve();
    await flush();
    assert.deepEqual(order, [0, 1, 2]);
    for (const { resolve } of ends) resolve();
    assert.deepEqual(await Promise.all(runs), [0, 1, 2, 3, 4]);
  });

  it('returns the permit of work that fails', async () => {
    const semaphore = createSemaphore({ permits: 1 });
    const failure = new Error('failed');
    await assert.rejects(
      semaphore.run(() => Promise.reject(failure)),
      failure,
    );
    assert.equal(await semaphore.run(async () => 'next'), 'next');
  });

  it('throws where the queue is full, where the wait is too long, and where the signal aborts', async () => {
    const timeouts: (() => void)[] = [];
    const clock = {
      after(_ms: number, callback: () => void) {
        timeouts.push(callback);
        return () => {};
      },
    };
    const semaphore = createSemaphore({ permits: 1, queue: 2, timeoutMs: 50, clock });
    const permit = await semaphore.acquire();
    const left = new AbortController();
    const waiting = [semaphore.acquire(), semaphore.acquire(left.signal)];
    await assert.rejects(semaphore.acquire(), QueueFull);
    timeouts[0]?.();
    await assert.rejects(waiting[0] as Promise<unknown>, PermitTimeout);
    left.abort(new Error('left'));
    await assert.rejects(waiting[1] as Promise<unknown>, /left/);
    permit[Symbol.dispose]();
    (await semaphore.acquire())[Symbol.dispose]();
  });
});

describe('a mutex', () => {
  it('runs work one after the other, in the order of asking, past work that fails', async () => {
    const mutex = createMutex();
    const steps: string[] = [];
    const run = (name: string, error?: Error) =>
      mutex.run(async () => {
        steps.push(`${name} starts`);
        await flush();
        steps.push(`${name} ends`);
        if (error) throw error;
      });
    const failure = new Error('failed');
    await Promise.all([run('a'), assert.rejects(run('b', failure), failure), run('c')]);
    assert.deepEqual(steps, ['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends']);
  });
});
