import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { CountTimes, onceFor } from './count-time.ts';

describe('the time for counting', () => {
  let nowMs: number;
  let times: CountTimes;
  beforeEach(() => {
    nowMs = 1_000;
    times = new CountTimes(() => nowMs);
  });
  const available = (owner: string) => Math.round(times.of(owner).available() * 100) / 100;

  it('is twelve milliseconds at once for one that counts alone, then 11 % of the time', () => {
    assert.equal(available('a'), 12);
    times.of('a').use(5);
    assert.equal(available('a'), 7);
    times.of('a').use(7);
    assert.equal(available('a'), 0);
    nowMs += 50;
    assert.equal(available('a'), 5.5);
    nowMs += 10_000;
    assert.equal(available('a'), 12);
  });

  it('is four milliseconds and a hundredth of the time for each, whatever all others count', () => {
    for (let n = 0; n < 100; n += 1) times.of(`hostile ${n}`).use(1_000);
    assert.equal(available('hostile 1'), 0);
    assert.equal(available('victim'), 4);
    times.of('victim').use(3);
    assert.equal(available('victim'), 1);
    nowMs += 50;
    assert.equal(available('victim'), 1.5);
  });

  it('comes back within a second, however much was used beyond it', () => {
    for (let n = 0; n < 1_000; n += 1) times.of('a').use(50);
    nowMs += 900;
    assert.equal(available('a'), 12);
  });

  it('is remembered of those that count, and of no others', () => {
    for (let n = 0; n < 100_000; n += 1) {
      times.of(`owner ${n}`).use(1);
      nowMs += 1;
      assert.ok(times.size <= 1_000);
    }
    for (let n = 0; n < 100_000; n += 1) times.of(`other ${n}`).available();
    assert.ok(times.size <= 1_000);
  });
});

it('time that does not come back', () => {
  const time = onceFor(3, () => 0);
  time.use(2);
  assert.equal(time.available(), 1);
  time.use(2);
  assert.equal(time.available(), 0);
});
