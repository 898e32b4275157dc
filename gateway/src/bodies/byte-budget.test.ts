import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ByteBudget } from './byte-budget.ts';

describe('byte budget', () => {
  it('gives an owner its share and no byte more, whatever the others have', () => {
    const budget = new ByteBudget(100, 25);
    assert.ok(budget.take('a', 20));
    assert.ok(!budget.take('a', 6));
    assert.ok(budget.take('a', 5));
    assert.ok(budget.take('b', 25));
    budget.give('a', 1);
    assert.ok(!budget.take('a', 2));
    assert.ok(budget.take('a', 1));
  });

  it('gives an owner no more than it leaves free, so that each newcomer finds room', () => {
    const budget = new ByteBudget(100, 40);
    assert.ok(budget.take('a', 40));
    assert.ok(!budget.take('b', 31));
    assert.ok(budget.take('b', 30));
    assert.ok(!budget.take('c', 16));
    assert.ok(budget.take('c', 15));
    assert.ok(budget.take('d', 7));
    assert.ok(!budget.take('c', 1));
    assert.equal(budget.takenBytes, 92);
    budget.give('a', 40);
    assert.ok(budget.take('d', 16));
    for (const [owner, bytes] of [
      ['b', 30],
      ['c', 15],
      ['d', 23],
    ] as const)
      budget.give(owner, bytes);
    assert.equal(budget.takenBytes, 0);
    assert.ok(budget.take('b', 40));
  });
});
