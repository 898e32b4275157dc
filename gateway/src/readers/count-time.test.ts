import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createCountTime } from './count-time.ts';

it('the time for counting: eight milliseconds at once, then a tenth of the time', () => {
  let now = 1_000;
  const time = createCountTime(() => now);
  assert.equal(time.available(), 8);
  time.used(5);
  assert.equal(time.available(), 3);
  time.used(13);
  assert.equal(time.available(), 0);
  now += 100;
  assert.equal(time.available(), 0);
  now += 50;
  assert.equal(time.available(), 5);
  now += 10_000;
  assert.equal(time.available(), 8);
});
