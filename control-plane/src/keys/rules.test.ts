import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { expiryInstant, headroom, judgeCreditLimit, spendFloor } from './rules.ts';

describe('judgeCreditLimit', () => {
  // [limit, settled, unsettled, budget, other limits] and the decision.
  const cases: [string, [bigint | null, bigint, bigint, bigint, bigint], string][] = [
    ['no limit', [null, 0n, 0n, 100n, 0n], 'accepted'],
    ['no limit, although the key has spent', [null, 50n, 9n, 100n, 0n], 'accepted'],
    ['no limit, although the other limits exceed the budget', [null, 0n, 0n, 100n, 500n], 'accepted'],
    ['the smallest limit', [1n, 0n, 0n, 100n, 0n], 'accepted'],

    ['exactly the settled spend', [50n, 50n, 0n, 100n, 0n], 'accepted'],
    ['1 below the settled spend', [49n, 50n, 0n, 100n, 0n], 'below_spend'],
    ['exactly settled and unsettled spend', [59n, 50n, 9n, 100n, 0n], 'accepted'],
    ['1 below settled and unsettled spend', [58n, 50n, 9n, 100n, 0n], 'below_spend'],
    ['exactly the unsettled spend', [9n, 0n, 9n, 100n, 0n], 'accepted'],
    ['1 below the unsettled spend', [8n, 0n, 9n, 100n, 0n], 'below_spend'],

    ['exactly the budget', [100n, 0n, 0n, 100n, 0n], 'accepted'],
    ['1 above the budget', [101n, 0n, 0n, 100n, 0n], 'above_headroom'],
    ['exactly what the other limits leave', [40n, 0n, 0n, 100n, 60n], 'accepted'],
    ['1 above what the other limits leave', [41n, 0n, 0n, 100n, 60n], 'above_headroom'],
    ['the smallest limit, the other limits taking all', [1n, 0n, 0n, 100n, 100n], 'above_headroom'],
    ['the smallest limit, the other limits taking more', [1n, 0n, 0n, 100n, 101n], 'above_headroom'],
    ['the smallest limit without a budget', [1n, 0n, 0n, 0n, 0n], 'above_headroom'],
    ['the key’s own spend takes no headroom', [100n, 100n, 0n, 100n, 0n], 'accepted'],

    ['between headroom and a higher spend: spend comes first', [80n, 90n, 0n, 100n, 50n], 'below_spend'],
    ['exactly a spend above the headroom', [90n, 90n, 0n, 100n, 50n], 'above_headroom'],
    ['sums beyond 2^53, to the last micro-PKR', [2n ** 60n, 2n ** 60n, 1n, 2n ** 62n, 0n], 'below_spend'],
  ];
  for (const [what, [limit, settled, unsettled, budget, others], decision] of cases) {
    it(`${decision}: ${what}`, () => {
      const position = {
        settledMicroPkr: settled,
        unsettledMicroPkr: unsettled,
        budgetMicroPkr: budget,
        otherLimitsMicroPkr: others,
      };
      assert.equal(judgeCreditLimit(limit, position), decision);
    });
  }
});

describe('spendFloor', () => {
  for (const [settledMicroPkr, unsettledMicroPkr, floor] of [
    [0n, 0n, 0n],
    [5n, 0n, 5n],
    [0n, 7n, 7n],
    [5n, 7n, 12n],
  ] as const)
    it(`is ${floor} for ${settledMicroPkr} settled and ${unsettledMicroPkr} unsettled`, () =>
      assert.equal(spendFloor({ settledMicroPkr, unsettledMicroPkr }), floor));
});

describe('headroom', () => {
  for (const [budgetMicroPkr, otherLimitsMicroPkr, left] of [
    [100n, 0n, 100n],
    [100n, 99n, 1n],
    [100n, 100n, 0n],
    [100n, 101n, 0n],
    [0n, 0n, 0n],
    [-5n, 0n, 0n],
  ] as const)
    it(`is ${left} of a budget of ${budgetMicroPkr} with other limits of ${otherLimitsMicroPkr}`, () =>
      assert.equal(headroom({ budgetMicroPkr, otherLimitsMicroPkr }), left));
});

describe('expiryInstant', () => {
  for (const [seconds, instant] of [
    [1, '1970-01-01T00:00:01.000000+00:00'],
    [253_402_300_799, '9999-12-31T23:59:59.000000+00:00'],
    [253_402_300_800, undefined],
    [1_795_000_000_000, undefined],
    [8_640_000_000_001, undefined],
    [1e300, undefined],
    [-1, undefined],
  ] as const)
    it(`is ${instant} for ${seconds}`, () => assert.equal(expiryInstant(seconds), instant));
});
