import { pkrNumber } from '@gatehouse/contract';
import type { Prices, StoredCallPrices, StoredTier } from './queries.ts';

/** The prices of a route by the names of a catalogue file, in PKR. */
export function pricesInPkr(row: Prices & { readonly priceTiers: readonly StoredTier[] }) {
  return {
    input: pkrNumber(row.inputMicroPkrPerMillion),
    output: pkrNumber(row.outputMicroPkrPerMillion),
    cache_write: pkrNumber(row.cacheWriteMicroPkrPerMillion),
    cache_read: pkrNumber(row.cacheReadMicroPkrPerMillion),
    cache_write_1h: pkrNumber(row.cacheWrite1hMicroPkrPerMillion),
    tiers: row.priceTiers.map((tier) => ({
      above_prompt_tokens: tier.abovePromptTokens,
      input: inPkr(tier.input),
      output: inPkr(tier.output),
      cache_write: inPkr(tier.cacheWrite),
      cache_read: inPkr(tier.cacheRead),
      cache_write_1h: inPkr(tier.cacheWrite1h),
    })),
  };
}

export function callPricesInPkr(prices: StoredCallPrices): Record<string, number> {
  return Object.fromEntries(Object.entries(prices).map(([call, price]) => [call, inPkr(price)]));
}

function inPkr(microPkr: number): number {
  return pkrNumber(BigInt(microPkr));
}
