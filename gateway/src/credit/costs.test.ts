import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TokenPrices } from '../catalogue/route.ts';
import type { Usage } from '../formats/protocol.ts';
import { randomFrom } from '../journal/testing/random.ts';
import { LONG_PROMPTS, PRICES } from '../testing/prices.ts';
import { costMicroPkr, type Limits, MAX_MICRO_PKR, reservation, WHOLE_PRICE_MILLIONTHS } from './costs.ts';
import type { RoutePrices } from './prices.ts';

const prices = (input: bigint, output: bigint): RoutePrices => ({
  inputMicroPkrPerMillion: input,
  outputMicroPkrPerMillion: output,
  cacheWriteMicroPkrPerMillion: input,
  cacheWrite1hMicroPkrPerMillion: input,
  cacheReadMicroPkrPerMillion: input,
  priceTiers: [],
  microPkrPerCall: new Map(),
});
const WHOLE = WHOLE_PRICE_MILLIONTHS;
const FIVE_PERCENT = 50_000n;
const MAX_TOKENS = 10_000_000_000;
const limitsOf = (promptTokens: number, choices: number): Limits => ({
  promptTokens,
  reach: promptTokens,
  choices,
  calls: {},
  shareMillionths: WHOLE,
});

describe('costMicroPkr', () => {
  for (const [input, output, promptTokens, completionTokens, cost] of [
    [70_000_000n, 560_000_000n, 11, 7, 4_690n],
    [0n, 0n, 1_000_000, 1_000_000, 0n],
    // Half a micro-PKR rounds up, anything less down.
    [500_000n, 0n, 1, 0, 1n],
    [499_999n, 0n, 1, 0, 0n],
    // Summed before it is divided: two halves are one, not two.
    [500_000n, 500_000n, 1, 1, 1n],
    [1n, 1n, 0, 0, 0n],
    [2n ** 63n - 1n, 2n ** 63n - 1n, MAX_TOKENS, MAX_TOKENS, MAX_MICRO_PKR],
  ] as const) {
    it(`is ${cost} for ${promptTokens} at ${input} and ${completionTokens} at ${output}`, () => {
      assert.equal(costMicroPkr(prices(input, output), { promptTokens, completionTokens }, WHOLE), cost);
    });
  }

  // At 1,000 a token of input, 5,000 of output, 1,250 and 2,000 of a cache write, 100 of a cache read; 5 % of it with the
  // organisation's own provider key.
  for (const [title, usage, cost] of [
    [
      'a cache write: 3 uncached, 12,304 written, 0 read, 550 out',
      { promptTokens: 12_307, completionTokens: 550, cacheReadTokens: 0, cacheWriteTokens: 12_304 },
      3_000n + 15_380_000n + 2_750_000n,
    ],
    [
      'a cache read: 4 uncached, 2,455 read, 23 out',
      { promptTokens: 2_459, completionTokens: 23, cacheReadTokens: 2_455, cacheWriteTokens: 0 },
      4_000n + 245_500n + 115_000n,
    ],
    [
      'a one-hour write: 3 uncached, 100 for five minutes, 12,204 for an hour, 550 out',
      { promptTokens: 12_307, completionTokens: 550, cacheWriteTokens: 12_304, cacheWrite1hTokens: 12_204 },
      3_000n + 125_000n + 24_408_000n + 2_750_000n,
    ],
    ['two choices', { promptTokens: 9, completionTokens: 2 * 31 }, 9_000n + 310_000n],
    [
      'reasoning, which is output: 40 of 50',
      { promptTokens: 0, completionTokens: 50, reasoningTokens: 40 },
      250_000n,
    ],
    [
      'calls: two searches, and one that has no price',
      { promptTokens: 1, completionTokens: 0, calls: { web_search: 2, web_fetch: 1 } },
      1_000n + 5_700_000n,
    ],
    ['calls that were not made', { promptTokens: 1, completionTokens: 0, calls: { toString: 7 } }, 1_000n],
  ] satisfies readonly (readonly [string, Usage, bigint])[]) {
    it(`is ${cost} for ${title}`, () => {
      assert.equal(costMicroPkr(PRICES, usage, WHOLE), cost);
      assert.equal(costMicroPkr(PRICES, usage, FIVE_PERCENT), cost / 20n);
    });
  }

  for (const [promptTokens, perInput, perOutput, perRead] of [
    [271_999, 1_000n, 5_000n, 100n],
    [272_000, 1_000n, 5_000n, 100n],
    [272_001, 2_000n, 7_500n, 200n],
  ] as const) {
    it(`charges all of a request at the prices of its tier with ${promptTokens} prompt tokens`, () => {
      const usage = { promptTokens, completionTokens: 10, cacheReadTokens: 200_000 };
      const uncached = BigInt(promptTokens - 200_000);
      const cost = uncached * perInput + 200_000n * perRead + 10n * perOutput;
      assert.equal(costMicroPkr(LONG_PROMPTS, usage, WHOLE), cost);
    });
  }

  it('is the share of the price, divided once', () => {
    const some = prices(70_000_000n, 560_000_000n);
    // 3.5, rounded up; 0.35, rounded down.
    assert.equal(costMicroPkr(some, { promptTokens: 1, completionTokens: 0 }, FIVE_PERCENT), 4n);
    assert.equal(
      costMicroPkr(prices(7_000_000n, 0n), { promptTokens: 1, completionTokens: 0 }, FIVE_PERCENT),
      0n,
    );
    assert.equal(costMicroPkr(some, { promptTokens: 9, completionTokens: 9 }, 0n), 0n);
  });

  it('grows with every part', () => {
    const random = randomFrom(3);
    for (let n = 0; n < 5_000; n += 1) {
      const given = randomPrices(random, { areTiersDearer: true });
      const share = BigInt(Math.floor(random() * 1_000_001));
      const tokens = () => Math.floor(random() * 10 ** Math.floor(random() * 7));
      const parts = [tokens(), tokens(), tokens(), tokens(), tokens(), tokens(), tokens()];
      const cost = costMicroPkr(given, usageOfParts(parts), share);
      for (const [index, part] of parts.entries()) {
        const more = parts.with(index, part + 1 + tokens());
        assert.ok(costMicroPkr(given, usageOfParts(more), share) >= cost);
      }
    }
  });
});

describe('reservation', () => {
  for (const [input, output, prompt, cap, choices, amount] of [
    [70_000_000n, 560_000_000n, 8, 1_000, 1, 560_560n],
    [70_000_000n, 560_000_000n, 8, 1_000, 3, 1_680_560n],
    // Nothing is generated.
    [70_000_000n, 560_000_000n, 8, 1_000, 0, 560n],
    // Any fraction rounds up.
    [1n, 0n, 1, 1, 1, 1n],
    [0n, 0n, 1, 1, 1, 0n],
    [2n ** 63n - 1n, 2n ** 63n - 1n, MAX_TOKENS, Number.MAX_SAFE_INTEGER, 128, MAX_MICRO_PKR],
  ] as const) {
    it(`is ${amount} for ${prompt} at ${input} and ${choices} times ${cap} at ${output}`, () => {
      assert.equal(reservation(prices(input, output), limitsOf(prompt, choices)).costAt(cap), amount);
    });
  }

  it('takes the prompt at the dearest way it can be billed', () => {
    assert.equal(reservation(PRICES, limitsOf(10, 0)).costAt(0), 20_000n);
    const dearRead = { ...PRICES, cacheReadMicroPkrPerMillion: 3_000_000_000n };
    assert.equal(reservation(dearRead, limitsOf(10, 0)).costAt(0), 30_000n);
    const plain = { ...PRICES, cacheWrite1hMicroPkrPerMillion: 0n, cacheWriteMicroPkrPerMillion: 0n };
    assert.equal(reservation(plain, limitsOf(10, 0)).costAt(0), 10_000n);
    assert.equal(
      reservation({ ...plain, cacheWriteMicroPkrPerMillion: 1_250_000_000n }, limitsOf(10, 0)).costAt(0),
      12_500n,
    );
  });

  for (const [counted, reach, amount] of [
    [272_000, 272_000, 272_000n * 2_000n + 5_000n],
    [272_000, 272_001, 272_001n * 4_000n + 7_500n],
    [272_001, 272_001, 272_001n * 4_000n + 7_500n],
    [200_000, 272_000, 200_000n * 2_000n + 5_000n],
    [200_000, 300_000, 272_001n * 4_000n + 7_500n],
  ] as const) {
    it(`takes the dearest tier for ${counted} tokens that the provider may count as ${reach}`, () => {
      assert.equal(reservation(LONG_PROMPTS, { ...limitsOf(counted, 1), reach }).costAt(1), amount);
    });
  }

  it('takes the calls that have a price', () => {
    const calls = { web_search: 3, web_fetch: 9 };
    assert.equal(reservation(PRICES, { ...limitsOf(0, 1), calls }).costAt(0), 8_550_000n);
    const byok = { ...limitsOf(0, 1), calls, shareMillionths: FIVE_PERCENT };
    assert.equal(reservation(PRICES, byok).costAt(0), 427_500n);
  });

  it('at the granted cap is never below the cost of a usage within its limits', () => {
    const random = randomFrom(11);
    const upTo = (most: number) => Math.floor(random() * (most + 1));
    for (let n = 0; n < 20_000; n += 1) {
      const given = randomPrices(random, { areTiersDearer: random() < 0.5 });
      const limits = randomLimits(random);
      const { costAt, largestCap } = reservation(given, limits);
      const wanted = upTo(10 ** upTo(6));
      const amount = costAt(0) + BigInt(upTo(Number(costAt(wanted) - costAt(0))));
      const cap = largestCap(amount, wanted);
      const promptTokens = upTo(limits.promptTokens);
      const cacheReadTokens = upTo(promptTokens);
      const cacheWriteTokens = upTo(promptTokens - cacheReadTokens);
      const completionTokens = upTo(limits.choices * cap);
      const usage: Usage = {
        promptTokens,
        completionTokens,
        cacheReadTokens,
        cacheWriteTokens,
        cacheWrite1hTokens: upTo(cacheWriteTokens),
        reasoningTokens: upTo(completionTokens),
        calls: { web_search: upTo(limits.calls['web_search'] ?? 0) },
      };
      assert.ok(costMicroPkr(given, usage, limits.shareMillionths) <= amount, JSON.stringify({ usage, cap }));
    }
  });
});

describe('the largest cap of a reservation', () => {
  const dear = reservation(prices(1_000_000n, 2_000_000n), limitsOf(10, 3));
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
    assert.equal(reservation(prices(1_000_000n, 0n), limitsOf(10, 1)).largestCap(10n, 77), 77);
    const endless = reservation(prices(2n ** 63n - 1n, 2n ** 63n - 1n), limitsOf(MAX_TOKENS, 128));
    assert.equal(endless.largestCap(MAX_MICRO_PKR, Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
  });

  it('is the one that every reachable tier allows', () => {
    // 1 for a token of a prompt of up to ten and 9 for one of output; above ten, 5 and 2.
    const tiers = { ...prices(5_000_000n, 2_000_000n), abovePromptTokens: 10n };
    const given = { ...prices(1_000_000n, 9_000_000n), priceTiers: [tiers] };
    const { costAt, largestCap } = reservation(given, { ...limitsOf(10, 1), reach: 11 });
    assert.deepEqual([0, 6, 7, 8].map(costAt), [55n, 67n, 73n, 82n]);
    assert.deepEqual(
      [54n, 55n, 66n, 67n, 72n, 73n, 81n].map((amount) => largestCap(amount, 8)),
      [0, 0, 5, 6, 6, 7, 7],
    );
  });

  it('never costs more than the amount, and a token more would', () => {
    const random = randomFrom(7);
    const upTo = (most: number) => Math.floor(random() * (most + 1));
    for (let n = 0; n < 20_000; n += 1) {
      const given = randomPrices(random, { areTiersDearer: random() < 0.5 });
      const { costAt, largestCap } = reservation(given, randomLimits(random));
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

/** Seven disjoint parts. */
function usageOfParts(parts: readonly number[]): Usage {
  const [uncached = 0, read = 0, fiveMinutes = 0, oneHour = 0, visible = 0, reasoning = 0, searches = 0] =
    parts;
  return {
    promptTokens: uncached + read + fiveMinutes + oneHour,
    completionTokens: visible + reasoning,
    cacheReadTokens: read,
    cacheWriteTokens: fiveMinutes + oneHour,
    cacheWrite1hTokens: oneHour,
    reasoningTokens: reasoning,
    calls: { web_search: searches },
  };
}

function randomPrices(
  random: () => number,
  { areTiersDearer }: { readonly areTiersDearer: boolean },
): RoutePrices {
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  const price = () => BigInt(upTo(10 ** upTo(10)));
  const some = (): TokenPrices => ({
    inputMicroPkrPerMillion: price(),
    outputMicroPkrPerMillion: price(),
    cacheWriteMicroPkrPerMillion: price(),
    cacheWrite1hMicroPkrPerMillion: price(),
    cacheReadMicroPkrPerMillion: price(),
  });
  const base = some();
  // No part of a request costs less in a later tier than any part in an earlier one.
  const flat = (amount: bigint): TokenPrices => ({
    inputMicroPkrPerMillion: amount,
    outputMicroPkrPerMillion: amount,
    cacheWriteMicroPkrPerMillion: amount,
    cacheWrite1hMicroPkrPerMillion: amount,
    cacheReadMicroPkrPerMillion: amount,
  });
  const begins = Array.from({ length: upTo(3) }, () => upTo(10 ** upTo(6))).toSorted(
    (one, other) => one - other,
  );
  const priceTiers = begins.map((begin, index) => ({
    ...(areTiersDearer ? flat(10n ** 10n + BigInt(index)) : some()),
    abovePromptTokens: BigInt(begin),
  }));
  return { ...base, priceTiers, microPkrPerCall: new Map([['web_search', price()]]) };
}

function randomLimits(random: () => number): Limits {
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  const promptTokens = upTo(10 ** upTo(6));
  return {
    promptTokens,
    reach: promptTokens + upTo(promptTokens),
    choices: 1 + upTo(9),
    calls: { web_search: upTo(20) },
    shareMillionths: random() < 0.5 ? WHOLE : BigInt(upTo(1_000_000)),
  };
}
