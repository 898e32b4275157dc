import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { collectGarbage, collectStartGarbage } from './start-garbage.ts';

/** Looks as often as it wants to at a process that is this busy each time; returns how often it looked and collected. */
function collected(busyShares: readonly number[]): { readonly looks: number; readonly collections: number } {
  const waiting: (() => void)[] = [];
  let looks = 0;
  let collections = 0;
  collectStartGarbage({
    timers: {
      after(ms, callback) {
        assert.equal(ms, 1_000);
        waiting.push(callback);
        return () => undefined;
      },
    },
    busyShare: () => busyShares[looks++] ?? 1,
    collect: () => {
      collections += 1;
    },
  });
  for (let callback = waiting.pop(); callback; callback = waiting.pop()) callback();
  return { looks, collections };
}

describe('the garbage of a start', () => {
  it('is collected once, in the first second without work', () => {
    assert.deepEqual(collected([0.01]), { looks: 1, collections: 1 });
    assert.deepEqual(collected([1, 0.06, 0.05, 0]), { looks: 3, collections: 1 });
  });

  it('is left to a process that is busy for a minute', () => {
    assert.deepEqual(collected([]), { looks: 60, collections: 0 });
  });

  it('is gone after a collection, which nothing else in the process can ask for', async () => {
    const garbage = new WeakRef({});
    await setImmediate();
    collectGarbage();
    assert.equal(garbage.deref(), undefined);
    assert.equal('gc' in globalThis, process.execArgv.includes('--expose-gc'));
  });

  it('is measured by what the main thread does', async () => {
    const collections = Promise.withResolvers<void>();
    let waits = 0;
    collectStartGarbage({
      timers: {
        after(_ms, callback) {
          waits += 1;
          if (waits === 1) {
            const until = performance.now() + 50;
            while (performance.now() < until);
            callback();
          } else setTimeout(callback, 300);
          return () => undefined;
        },
      },
      collect: collections.resolve,
    });
    await collections.promise;
    assert.ok(waits > 1, 'it was busy when it was first looked at');
  });
});
