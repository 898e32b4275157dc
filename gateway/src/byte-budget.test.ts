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

  it('gives all of them together no more than there is', () => {
    const budget = new ByteBudget(100, 40);
    assert.deepEqual(
      ['a', 'b', 'c'].map((owner) => budget.take(owner, 40)),
      [true, true, false],
    );
    assert.ok(budget.take('c', 20));
    budget.give('a', 40);
    assert.ok(budget.take('d', 40));
  });
});
