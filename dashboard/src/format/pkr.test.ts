import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pkr, pkrAmount, pkrExact, pkrInput, pkrShort } from './pkr.ts';

describe('amounts of PKR', () => {
  it('writes no exponent and rounds no amount to zero', () => {
    assert.equal(pkr(0.000001), 'PKR 0.000001');
    assert.equal(pkr(2e-7 * 5), 'PKR 0.000001');
    assert.equal(pkr(0.0016), 'PKR 0.0016');
    assert.equal(pkrShort(0.000001), '0.000001');
    assert.equal(pkrInput(0.000001), '0.000001');
  });

  it('has two decimals from one rupee on, and all of them in the exact form', () => {
    assert.equal(pkr(85308.332894), 'PKR 85,308.33');
    assert.equal(pkrExact(85308.332894), 'PKR 85,308.332894');
    assert.equal(pkrExact(1000), 'PKR 1,000.00');
    assert.equal(pkrAmount(0), '0.00');
    assert.equal(pkrAmount(-0.0000001), '0.00');
    assert.equal(pkrAmount(-12.5), '-12.50');
  });

  it('corrects the error of a sum of decimals', () => {
    assert.equal(pkrExact(0.1 + 0.2), 'PKR 0.30');
    assert.equal(pkrInput(0.1 + 0.2), '0.3');
    assert.equal(pkrInput(1000), '1000');
    assert.equal(pkrInput(100.5), '100.5');
  });

  it('is short on an axis', () => {
    assert.equal(pkrShort(12_345.678), '12.3K');
    assert.equal(pkrShort(0), '0');
    assert.equal(pkrShort(0.00012), '0.00012');
  });
});
