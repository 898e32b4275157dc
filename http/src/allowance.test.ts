import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createAllowance } from './allowance.ts';

describe('an allowance', () => {
  it('is used up, comes back with time, and is never more than it was', () => {
    let nowMs = 5_000;
    const take = createAllowance({ most: 3, perSecond: 2, now: () => nowMs });
    const takeAll = () => {
      let count = 0;
      while (count < 100 && take()) count += 1;
      return count;
    };
    assert.equal(takeAll(), 3);
    nowMs += 499;
    assert.equal(takeAll(), 0);
    nowMs += 1;
    assert.equal(takeAll(), 1);
    nowMs += 3_600_000;
    assert.equal(takeAll(), 3);
  });
});
