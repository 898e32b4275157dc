import type { RoutePrices } from '../credit/prices.ts';

/** Every part has a price of its own, so that no two can be mistaken for each other. */
export const PRICES: RoutePrices = {
  inputMicroPkrPerMillion: 1_000_000_000n,
  outputMicroPkrPerMillion: 5_000_000_000n,
  cacheWriteMicroPkrPerMillion: 1_250_000_000n,
  cacheWrite1hMicroPkrPerMillion: 2_000_000_000n,
  cacheReadMicroPkrPerMillion: 100_000_000n,
  priceTiers: [],
  microPkrPerCall: new Map([['web_search', 2_850_000n]]),
};

/** Twice the price of input, and half as much again for output, of a prompt with more than 272,000 tokens. */
export const LONG_PROMPTS: RoutePrices = {
  ...PRICES,
  priceTiers: [
    {
      abovePromptTokens: 272_000n,
      inputMicroPkrPerMillion: 2_000_000_000n,
      outputMicroPkrPerMillion: 7_500_000_000n,
      cacheWriteMicroPkrPerMillion: 2_500_000_000n,
      cacheWrite1hMicroPkrPerMillion: 4_000_000_000n,
      cacheReadMicroPkrPerMillion: 200_000_000n,
    },
  ],
};
