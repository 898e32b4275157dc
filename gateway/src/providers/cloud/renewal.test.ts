import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Renewal } from './renewal.ts';

const MINUTE_MS = 60_000;

describe('a credential that is renewed', () => {
  /** Issues 1, 2 and so on, each for so long, or fails while `isDown`. */
  const start = (lifeMs: number) => {
    const state = { nowMs: 1_000_000, issued: 0, isDown: false, told: [] as string[] };
    const renewal = new Renewal<number>(
      async () => {
        await new Promise(setImmediate);
        if (state.isDown) throw new Error('down');
        state.issued += 1;
        return { value: state.issued, livesMs: lifeMs };
      },
      { monotonicMs: () => state.nowMs },
      {
        onFailing: (error) => state.told.push(String(error)),
        onRecovered: () => state.told.push('recovered'),
      },
    );
    return { state, renewal };
  };

  it('is issued once for all who wait', async () => {
    const { state, renewal } = start(60 * MINUTE_MS);
    assert.equal(renewal.value, undefined);
    await Promise.all(Array.from({ length: 50 }, () => renewal.ready()));
    assert.deepEqual([renewal.value, state.issued], [1, 1]);
    assert.equal(renewal.ready(), undefined);
  });

  it('is renewed five minutes before its end while it is used, and in its last minute before it is used', async () => {
    const { state, renewal } = start(60 * MINUTE_MS);
    await renewal.ready();
    state.nowMs += 55 * MINUTE_MS - 1;
    assert.equal(renewal.ready(), undefined);
    assert.equal(state.issued, 1);
    state.nowMs += 1;
    assert.equal(renewal.ready(), undefined);
    assert.equal(renewal.value, 1);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    assert.deepEqual([renewal.value, state.issued], [2, 2]);
    state.nowMs += 59 * MINUTE_MS;
    await Promise.all(Array.from({ length: 50 }, () => renewal.ready()));
    assert.deepEqual([renewal.value, state.issued], [3, 3]);
  });

  it('is used to its end where it cannot be renewed, and asked for every five seconds', async () => {
    const { state, renewal } = start(10 * MINUTE_MS);
    await renewal.ready();
    state.isDown = true;
    state.nowMs += 9.5 * MINUTE_MS;
    await renewal.ready();
    assert.equal(renewal.value, 1);
    assert.equal(renewal.ready(), undefined);
    state.nowMs += 5_000;
    assert.ok(renewal.ready());
    await renewal.ready();
    state.nowMs += 30_000;
    assert.equal(renewal.value, undefined);
    state.isDown = false;
    await renewal.ready();
    assert.deepEqual([renewal.value, state.issued], [2, 2]);
    assert.deepEqual(state.told, ['Error: down', 'recovered']);
  });

  it('is asked for each hour where it has no end', async () => {
    const { state, renewal } = start(Number.POSITIVE_INFINITY);
    await renewal.ready();
    state.nowMs += 60 * MINUTE_MS - 1;
    assert.equal(renewal.ready(), undefined);
    assert.equal(state.issued, 1);
    state.nowMs += 1;
    assert.equal(renewal.ready(), undefined);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    assert.equal(state.issued, 2);
  });
});
