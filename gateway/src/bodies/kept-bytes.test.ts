import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ReadOns } from '../exchange/read-ons.ts';
import { ByteBudget } from './byte-budget.ts';
import { KeptBytes } from './kept-bytes.ts';

const KIB = 1024;

describe('KeptBytes', () => {
  it('takes what is beyond the first 64 KiB, and gives back what is no longer kept', () => {
    const budget = new ByteBudget(2_000 * KIB, 1_000 * KIB);
    const [one, other] = [new KeptBytes(budget, 'a'), new KeptBytes(budget, 'a')];
    assert.ok(one.set(64 * KIB));
    assert.ok(budget.take('a', 1_000 * KIB), 'nothing was taken');
    assert.ok(other.set(64 * KIB));
    assert.equal(one.set(64 * KIB + 1), false);
    budget.give('a', 1_000 * KIB);
    assert.ok(one.set(564 * KIB));
    assert.equal(other.set(600 * KIB), false);
    assert.ok(one.set(64 * KIB));
    assert.ok(other.set(600 * KIB));
    assert.ok(other.set(0));
    assert.ok(budget.take('a', 1_000 * KIB), 'all is given back');
  });
});

describe('ReadOns', () => {
  it('has 128 places for each, and 512 in all', () => {
    const places = new ReadOns();
    const takeAll = (owner: string) =>
      Array.from({ length: 200 }, () => places.take(owner)).filter(Boolean).length;
    assert.deepEqual(['a', 'b', 'c', 'd', 'e'].map(takeAll), [128, 128, 128, 128, 0]);
    places.give('a');
    assert.equal(takeAll('e'), 1);
    assert.equal(takeAll('a'), 0);
  });
});
