import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sparkPath } from './spark-path.ts';

describe('a spark line', () => {
  it('spans its box from zero to the largest value', () => {
    assert.deepEqual(sparkPath([0, 5, 10], 100, 20), {
      line: 'M0 20L50 10L100 0',
      area: 'M0 20L0 20L50 10L100 0L100 20Z',
    });
  });

  it('has a gap where a value is unknown', () => {
    assert.equal(sparkPath([1, null, 1, 1], 30, 10)?.line, 'M0 0M20 0L30 0');
  });

  it('is absent where there is nothing to draw, and flat at zero', () => {
    assert.equal(sparkPath([null, 3, null], 10, 10), undefined);
    assert.equal(sparkPath([], 10, 10), undefined);
    assert.equal(sparkPath([0, 0], 10, 10)?.line, 'M0 10L10 10');
  });
});
