import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QueueFull } from './fair-scheduler.ts';
import { createKeyedMutex } from './keyed-mutex.ts';

const flush = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('a keyed mutex', () => {
  it('runs work of one key one after the other, and of different keys at the same time', async () => {
    const mutex = createKeyedMutex();
    const started: string[] = [];
    const ends = new Map<string, () => void>();
    const run = (name: string) =>
      mutex.run(name.charAt(0), async () => {
        started.push(name);
        const { promise, resolve } = Promise.withResolvers<void>();
        ends.set(name, resolve);
        await promise;
      });
    const runs = ['a1', 'a2', 'b1', 'a3'].map(run);
    await flush();
    assert.deepEqual(started, ['a1', 'b1']);
    assert.equal(mutex.keys(), 2);
    for (const name of ['a1', 'a2']) {
      ends.get(name)?.();
      await flush();
    }
    assert.deepEqual(started, ['a1', 'b1', 'a2', 'a3']);
    for (const end of ends.values()) end();
    await Promise.all(runs);
    assert.equal(mutex.keys(), 0);
  });

  it('goes on after work that fails, and bounds the queue of each key', async () => {
    const mutex = createKeyedMutex({ queue: 1 });
    const first = Promise.withResolvers<void>();
    const failing = mutex.run('a', () => first.promise);
    const next = mutex.run('a', async () => 'next');
    await assert.rejects(
      mutex.run('a', async () => 'never'),
      QueueFull,
    );
    assert.equal(await mutex.run('b', async () => 'other'), 'other');
    first.reject(new Error('failed'));
    await assert.rejects(failing, /failed/);
    assert.equal(await next, 'next');
    assert.equal(mutex.keys(), 0);
  });
});
