import type { CatalogueRoute } from './catalogue-file.ts';
import type { PriceTier } from './price-file.ts';
import type { StoredCallPrices, StoredTier } from './queries.ts';

// Every amount of a file is below 2^53, so a number holds it exactly.

export function storedTier(tier: PriceTier): StoredTier {
  return {
    abovePromptTokens: tier.above_prompt_tokens,
    input: Number(tier.input),
    output: Number(tier.output),
    cacheWrite: Number(tier.cache_write),
    cacheRead: Number(tier.cache_read),
    cacheWrite1h: Number(tier.cache_write_1h),
  };
}

export function storedCallPrices(route: CatalogueRoute): StoredCallPrices {
  return Object.fromEntries(
    Object.entries(route.price_pkr_per_call).map(([name, price]) => [name, Number(price)]),
  );
}
