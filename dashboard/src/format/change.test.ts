import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { change } from './change.ts';

describe('a change against the window before', () => {
  it('is a percentage with a trend', () => {
    assert.deepEqual(change(112, 100, 'neither'), {
      text: '12 %',
      trend: 'up',
      tone: 'neutral',
      sentence: '12 % more than in the window before',
    });
    assert.equal(change(98.5, 100, 'less-is-better')?.text, '1.5 %');
    assert.equal(change(98.5, 100, 'less-is-better')?.tone, 'good');
    assert.equal(change(120, 100, 'less-is-better')?.tone, 'bad');
    assert.equal(change(120, 100, 'more-is-better')?.tone, 'good');
  });

  it('is a multiple where a percentage would be hard to read', () => {
    assert.equal(change(2500, 100, 'neither')?.text, '25×');
  });

  it('is absent where there is nothing to compare with', () => {
    assert.equal(change(10, 0, 'neither'), undefined);
    assert.equal(change(10, null, 'neither'), undefined);
    assert.equal(change(null, 10, 'neither'), undefined);
  });

  it('is none where it is too small to notice', () => {
    assert.equal(change(100.01, 100, 'neither')?.trend, 'same');
  });
});
