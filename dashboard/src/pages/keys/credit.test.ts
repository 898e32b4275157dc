import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { judgeLimit, limitBounds, microOf, parseAmount, pkrOf } from './credit.ts';

describe('an amount that is entered', () => {
  for (const [text, micro] of [
    ['1000', 1_000_000_000n],
    [' 1,000.50 ', 1_000_500_000n],
    ['1,00,000.50', 100_000_500_000n],
    ['PKR 12', 12_000_000n],
    ['0.000001', 1n],
    ['1.1', 1_100_000n],
    ['4.35', 4_350_000n],
    ['1.005', 1_005_000n],
    ['123456789.123456', 123_456_789_123_456n],
    ['5.', 5_000_000n],
  ] as const)
    it(`${text} is ${micro} micro-PKR`, () => {
      assert.deepEqual(parseAmount(text), { kind: 'amount', microPkr: micro });
      assert.equal(microOf(pkrOf(micro)), micro);
      assert.doesNotMatch(JSON.stringify(pkrOf(micro)), /\.\d{7}/);
    });

  for (const text of [
    '',
    ' ',
    '0',
    '0.000000',
    '-1',
    '1e3',
    '١٢',
    '1.0000001',
    '10,00',
    '1 000',
    'NaN',
    '0x10',
  ])
    it(`${JSON.stringify(text)} is a problem`, () => assert.equal(parseAmount(text).kind, 'problem'));

  it('never becomes another amount on its way, up to the largest', () => {
    assert.equal(parseAmount('4000000000').kind, 'amount');
    assert.equal(parseAmount('4000000000.000001').kind, 'problem');
    assert.equal(parseAmount('9999999999999999').kind, 'problem');
    for (let n = 1; n < 2_000; n += 1) {
      const micro = BigInt(n) * 2_000_999_627_371n;
      const text = `${micro / 1_000_000n}.${String(micro % 1_000_000n).padStart(6, '0')}`;
      if (micro > 4_000_000_000_000_000n) continue;
      assert.deepEqual(parseAmount(text), { kind: 'amount', microPkr: micro });
      // The text of the JSON is the text that was entered.
      assert.equal(JSON.stringify(pkrOf(micro)), text.replace(/\.?0+$/, ''));
    }
  });
});

describe('the bounds of a limit', () => {
  const budget = { deposited_pkr: 1000, key_limits_pkr: 800.1 };

  it('are what the key has spent, and what the limits of the other keys leave', () => {
    const bounds = limitBounds(budget, { spent_pkr: 12.5, credit_limit_pkr: 300.1 });
    assert.deepEqual(bounds, { floorMicroPkr: 12_500_000n, headroomMicroPkr: 500_000_000n });
    assert.equal(judgeLimit(12_499_999n, bounds), 'below-spend');
    assert.equal(judgeLimit(12_500_000n, bounds), 'accepted');
    assert.equal(judgeLimit(500_000_000n, bounds), 'accepted');
    assert.equal(judgeLimit(500_000_001n, bounds), 'above-headroom');
  });

  it('of a key without a limit are those of a key that takes nothing', () => {
    assert.equal(
      limitBounds(budget, { spent_pkr: 0, credit_limit_pkr: null }).headroomMicroPkr,
      199_900_000n,
    );
  });

  it('are never below 0', () => {
    const bounds = limitBounds(
      { deposited_pkr: 5, key_limits_pkr: 100 },
      { spent_pkr: 7, credit_limit_pkr: null },
    );
    assert.equal(bounds.headroomMicroPkr, 0n);
    // The spend floor is said first, as the API does.
    assert.equal(judgeLimit(6_000_000n, bounds), 'below-spend');
    assert.equal(judgeLimit(8_000_000n, bounds), 'above-headroom');
  });
});
