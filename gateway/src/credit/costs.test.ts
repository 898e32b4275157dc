import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomFrom } from '../journal/testing/random.ts';
import { byokFeeMicroPkr, byokReservation, costMicroPkr, MOST_MICRO_PKR, reservation } from './costs.ts';

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

describe('reservation', () => {
  for (const [input, output, prompt, cap, choices, amount] of [
    [70_000_000n, 560_000_000n, 8, 1_000, 1, 560_560n],
    [70_000_000n, 560_000_000n, 8, 1_000, 3, 1_680_560n],
    // Any fraction rounds up.
    [1n, 0n, 1, 1, 1, 1n],
    [0n, 0n, 1, 1, 1, 0n],
    [2n ** 63n - 1n, 2n ** 63n - 1n, MOST_TOKENS, Number.MAX_SAFE_INTEGER, 128, MOST_MICRO_PKR],
  ] as const) {
    it(`is ${amount} for ${prompt} at ${input} and ${choices} times ${cap} at ${output}`, () => {
      assert.equal(reservation(prices(input, output), prompt, choices).costAt(cap), amount);
    });
  }

  it('covers every cost within the limits it was made for', () => {
    for (const price of [1n, 499_999n, 500_001n, 123_456_789n]) {
      for (const tokens of [1, 2, 999]) {
        const reserved = reservation(prices(price, price + 1n), tokens, 2).costAt(tokens);
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
          assert.ok(charged <= byokReservation(some, 333_333, 1).costAt(77_777));
        }
      }
    }
  });
});

describe('the largest cap of a reservation', () => {
  const dear = reservation(prices(1_000_000n, 2_000_000n), 10, 3);
  for (const [amount, wanted, cap] of [
    // 10 for the prompt and 6 for a token of each of three choices.
    [70n, 10, 10],
    [69n, 10, 9],
    [64n, 10, 9],
    [63n, 10, 8],
    [70n, 3, 3],
    [10n, 10, 0],
    [9n, 10, 0],
    [0n, 10, 0],
  ] as const) {
    it(`is ${cap} of ${wanted} for ${amount}`, () => {
      assert.equal(dear.largestCap(amount, wanted), cap);
    });
  }

  it('is what is wanted where output costs nothing, and where the amount is the bound of all amounts', () => {
    assert.equal(reservation(prices(1_000_000n, 0n), 10, 1).largestCap(10n, 77), 77);
    const endless = reservation(prices(2n ** 63n - 1n, 2n ** 63n - 1n), MOST_TOKENS, 128);
    assert.equal(endless.largestCap(MOST_MICRO_PKR, Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
  });

  it('never costs more than the amount, and a token more would', () => {
    const random = randomFrom(7);
    const upTo = (most: number) => Math.floor(random() * (most + 1));
    const price = () => BigInt(upTo(10 ** upTo(10)));
    for (let n = 0; n < 20_000; n += 1) {
      const given = {
        inputMicroPkrPerMillion: price(),
        outputMicroPkrPerMillion: price(),
        cacheWriteMicroPkrPerMillion: price(),
        cacheReadMicroPkrPerMillion: price(),
        byokFeeMillionths: BigInt(upTo(1_000_000)),
      };
      const make = random() < 0.5 ? reservation : byokReservation;
      const { costAt, largestCap } = make(given, upTo(10 ** upTo(6)), 1 + upTo(9));
      const wanted = 1 + upTo(10 ** upTo(8));
      const floor = 1 + upTo(wanted - 1);
      const most = costAt(wanted);
      const amount = costAt(floor) + BigInt(upTo(Number(most - costAt(floor))));
      const cap = largestCap(amount, wanted);
      assert.ok(cap >= floor && cap <= wanted, `${cap} of ${floor} to ${wanted}`);
      assert.ok(costAt(cap) <= amount);
      assert.ok(cap === wanted || costAt(cap + 1) > amount);
    }
  });
});
