import { pkrNumber } from '@gatehouse/contract';
import type { StoredCallPrices, StoredPrices, StoredTarget } from './stored-targets.ts';

/** The prices of a target by the names of a catalogue file, in PKR. */
export function pricesInPkr(target: Pick<StoredTarget, keyof StoredPrices | 'priceTiers'>) {
  return {
    ...tokenPrices(target),
    tiers: target.priceTiers.map((tier) => ({
      above_prompt_tokens: tier.abovePromptTokens,
      ...tokenPrices(tier),
    })),
  };
}

function tokenPrices(prices: StoredPrices) {
  return {
    input: inPkr(prices.input),
    output: inPkr(prices.output),
    cache_write: inPkr(prices.cacheWrite),
    cache_read: inPkr(prices.cacheRead),
    cache_write_1h: inPkr(prices.cacheWrite1h),
  };
}

export function callPricesInPkr(prices: StoredCallPrices): Record<string, number> {
  return Object.fromEntries(Object.entries(prices).map(([call, price]) => [call, inPkr(price)]));
}

function inPkr(microPkr: number): number {
  return pkrNumber(BigInt(microPkr));
}
