import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  byokFeeMicroPkr,
  byokReservationMicroPkr,
  costMicroPkr,
  MOST_MICRO_PKR,
  reservationMicroPkr,
} from './costs.ts';

const prices = (input: bigint, output: bigint) => ({
  inputMicroPkrPerMillion: input,
  outputMicroPkrPerMillion: output,
});

const MOST_TOKENS = 10_000_000_000;

describe('costMicroPkr', () => {
  for (const [input, output, prompt, completion, cost] of [
    [70_000_000n, 560_000_000n, 11, 7, 4_690n],
    [0n, 0n, 1_000_000, 1_000_000, 0n],
    // Half a micro-PKR rounds up, anything less down.
    [500_000n, 0n, 1, 0, 1n],
    [499_999n, 0n, 1, 0, 0n],
    // Summed before it is divided: two halves are one, not two.
    [500_000n, 500_000n, 1, 1, 1n],
    [1n, 1n, 0, 0, 0n],
    [2n ** 63n - 1n, 2n ** 63n - 1n, MOST_TOKENS, MOST_TOKENS, MOST_MICRO_PKR],
  ] as const) {
    it(`is ${cost} for ${prompt} at ${input} and ${completion} at ${output}`, () => {
      assert.equal(costMicroPkr(prices(input, output), prompt, completion), cost);
    });
  }
});

describe('reservationMicroPkr', () => {
  for (const [input, output, prompt, cap, choices, amount] of [
    [70_000_000n, 560_000_000n, 8, 1_000, 1, 560_560n],
    [70_000_000n, 560_000_000n, 8, 1_000, 3, 1_680_560n],
    // Any fraction rounds up.
    [1n, 0n, 1, 1, 1, 1n],
    [0n, 0n, 1, 1, 1, 0n],
    [2n ** 63n - 1n, 2n ** 63n - 1n, MOST_TOKENS, Number.MAX_SAFE_INTEGER, 128, MOST_MICRO_PKR],
  ] as const) {
    it(`is ${amount} for ${prompt} at ${input} and ${choices} times ${cap} at ${output}`, () => {
      assert.equal(reservationMicroPkr(prices(input, output), prompt, cap, choices), amount);
    });
  }

  it('covers every cost within the limits it was made for', () => {
    for (const price of [1n, 499_999n, 500_001n, 123_456_789n]) {
      for (const tokens of [1, 2, 999]) {
        const reserved = reservationMicroPkr(prices(price, price + 1n), tokens, tokens, 2);
        assert.ok(costMicroPkr(prices(price, price + 1n), tokens, 2 * tokens) <= reserved);
      }
    }
  });
});

describe('the fee with a provider key of the organisation', () => {
  const prices = {
    inputMicroPkrPerMillion: 70_000_000n,
    outputMicroPkrPerMillion: 560_000_000n,
    cacheWriteMicroPkrPerMillion: 87_500_000n,
    cacheReadMicroPkrPerMillion: 7_000_000n,
    byokFeeMillionths: 50_000n,
  };
  const tokens = { promptTokens: 0, cacheWriteTokens: 0, cacheReadTokens: 0, completionTokens: 0 };

  it('is its share of the price of all four kinds of tokens, divided once', () => {
    const all = { promptTokens: 1_000, cacheWriteTokens: 200, cacheReadTokens: 3_000, completionTokens: 40 };
    // (70,000 + 17,500 + 21,000 + 22,400) × 5 %.
    assert.equal(byokFeeMicroPkr(prices, all), 6_545n);
    assert.equal(byokFeeMicroPkr(prices, tokens), 0n);
    // 3.5, rounded up; 0.35, rounded down.
    assert.equal(byokFeeMicroPkr(prices, { ...tokens, promptTokens: 1 }), 4n);
    assert.equal(byokFeeMicroPkr(prices, { ...tokens, cacheReadTokens: 1 }), 0n);
    assert.equal(byokFeeMicroPkr({ ...prices, byokFeeMillionths: 0n }, all), 0n);
  });

  it('is never more than what was set aside for it, however the prompt was read', () => {
    for (const fee of [1n, 49_999n, 333_333n, 1_000_000n]) {
      for (const [input, output, write, read] of [
        [70_000_000n, 560_000_000n, 87_500_000n, 7_000_000n],
        [1n, 1n, 0n, 0n],
        [0n, 0n, 1n, 3n],
        [3n, 7n, 1n, 2n],
      ] as const) {
        const some = {
          inputMicroPkrPerMillion: input,
          outputMicroPkrPerMillion: output,
          cacheWriteMicroPkrPerMillion: write,
          cacheReadMicroPkrPerMillion: read,
          byokFeeMillionths: fee,
        };
        for (const [plain, written, cached] of [
          [333_333, 0, 0],
          [0, 333_333, 0],
          [0, 0, 333_333],
          [111_111, 111_111, 111_111],
        ] as const) {
          const charged = byokFeeMicroPkr(some, {
            promptTokens: plain,
            cacheWriteTokens: written,
            cacheReadTokens: cached,
            completionTokens: 77_777,
          });
          assert.ok(charged <= byokReservationMicroPkr(some, 333_333, 77_777, 1));
        }
      }
    }
  });
});
