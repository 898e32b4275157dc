import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LONG_PROMPTS, PRICES } from '../testing/prices.ts';
import { pricesFor, reachablePrices } from './prices.ts';

describe('pricesFor', () => {
  const [long] = LONG_PROMPTS.priceTiers;
  const longer = { ...PRICES, abovePromptTokens: 1_000_000n };
  for (const [prompt, chosen] of [
    [0, LONG_PROMPTS],
    [271_999, LONG_PROMPTS],
    [272_000, LONG_PROMPTS],
    [272_001, long],
    [1_000_000, long],
  ] as const) {
    it(`chooses the tier that begins above ${chosen === long ? '272000' : 'nothing'} for ${prompt}`, () =>
      assert.equal(pricesFor(LONG_PROMPTS, prompt), chosen));
  }

  it('chooses the last of several tiers that the prompt passes', () => {
    const prices = { ...LONG_PROMPTS, priceTiers: [...LONG_PROMPTS.priceTiers, longer] };
    assert.equal(pricesFor(prices, 1_000_000), long);
    assert.equal(pricesFor(prices, 1_000_001), longer);
  });
});

describe('reachablePrices', () => {
  const tiers = [10n, 20n, 40n].map((abovePromptTokens) => ({ ...PRICES, abovePromptTokens }));
  const prices = { ...PRICES, priceTiers: tiers };
  const tokens = (counted: number, reach: number) =>
    reachablePrices(prices, counted, reach).map((reachable) => Number(reachable.promptTokens));
  for (const [counted, reach, most] of [
    [0, 0, [0]],
    [10, 10, [10]],
    // The tier is reached by eleven.
    [10, 11, [10, 11]],
    [11, 11, [10, 11]],
    [15, 22, [10, 15, 21]],
    [60, 60, [10, 20, 40, 60]],
    [8, 100, [8, 11, 21, 41]],
  ] as const) {
    it(`are those of ${most.join(', ')} tokens for ${counted} that may be ${reach}`, () =>
      assert.deepEqual(tokens(counted, reach), most));
  }
});
