import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { WriteBudget } from './write-budget.ts';

describe('WriteBudget', () => {
  let nowMs = 0;
  let budget: WriteBudget;
  beforeEach(() => {
    nowMs = 1_000;
    budget = new WriteBudget({ singlesOfKey: 3, singles: 5, counts: 2 }, () => nowMs);
  });
  const singles = (n: number, owner: string, key: string) =>
    Array.from({ length: n }, () => budget.takeSingle(owner, key)).filter(Boolean).length;

  it('lets a key have so many a minute, and its owner so many in all', () => {
    assert.equal(singles(10, 'a', 'one'), 3);
    assert.equal(singles(10, 'a', 'two'), 2);
    assert.equal(singles(10, 'a', 'three'), 0);
    assert.equal(singles(10, 'b', 'one'), 3);
  });

  it('lets an owner begin so many counts a minute, beside what is written one by one', () => {
    singles(10, 'a', 'one');
    assert.deepEqual(
      [1, 2, 3].map(() => budget.takeCount('a')),
      [true, true, false],
    );
    assert.equal(budget.takeCount('b'), true);
  });

  it('begins again when the minute that began with the first is over', () => {
    singles(10, 'a', 'one');
    nowMs += 59_999;
    assert.equal(singles(10, 'a', 'one'), 0);
    nowMs += 1;
    assert.equal(singles(10, 'a', 'one'), 3);
  });

  it('forgets owners that went quiet', () => {
    for (let owner = 0; owner < 1_000; owner += 1) singles(1, `owner ${owner}`, 'one');
    assert.equal(budget.size, 1_000);
    nowMs += 60_000;
    singles(1, 'another', 'one');
    assert.equal(budget.size, 1);
  });
});
