import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bytes, count, countShort, percent, plural, rate } from './number.ts';

describe('numbers', () => {
  it('groups thousands', () => {
    assert.equal(count(5_000_000), '5,000,000');
    assert.equal(plural(1, 'key'), '1 key');
    assert.equal(plural(1200, 'entry', 'entries'), '1,200 entries');
  });

  it('is short from ten thousand on', () => {
    assert.equal(countShort(9_999), '9,999');
    assert.equal(countShort(12_345), '12.3K');
    assert.equal(countShort(63_760_444), '63.8M');
  });

  it('shows no share that is not zero as zero', () => {
    assert.equal(percent(0), '0 %');
    assert.equal(percent(0.0000001), '< 0.001 %');
    assert.equal(percent(683 / 26_433), '2.6 %');
    assert.equal(percent(0.1234), '12.3 %');
    assert.equal(percent(1), '100 %');
  });

  it('has decimals where a number is small', () => {
    assert.equal(rate(0.351), '0.35');
    assert.equal(rate(72.34), '72.3');
    assert.equal(rate(184.2), '184');
    assert.equal(bytes(1_400_000), '1.4 MB');
    assert.equal(bytes(0), '0 B');
  });
});
