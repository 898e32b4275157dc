import type { CatalogueCredential } from './credentials-file.ts';
import type { PriceTier } from './price-file.ts';
import type { CatalogueTarget } from './targets-file.ts';

// How targets and credentials are stored, and read back as JSON, which has no bigint. Every amount of a file is below 2^53, so a
// number holds it exactly.

/** In micro-PKR per million tokens. */
export interface StoredPrices {
  readonly input: number;
  readonly output: number;
  readonly cacheWrite: number;
  readonly cacheRead: number;
  readonly cacheWrite1h: number;
}

/** The prices of a request whose prompt has more tokens than this. */
export interface StoredTier extends StoredPrices {
  readonly abovePromptTokens: number;
}

/** In micro-PKR, by the name of the call. */
export type StoredCallPrices = Readonly<Record<string, number>>;

/** A target of a route. */
export interface StoredTarget extends StoredPrices {
  readonly provider: string;
  readonly upstreamModel: string;
  readonly priceTiers: readonly StoredTier[];
  readonly pricePerCall: StoredCallPrices;
  readonly byokFeeMillionths: number;
  readonly priority: number;
  readonly weight: number;
}

/** A credential of a provider. */
export interface StoredCredential {
  readonly name: string;
  readonly apiKeyEnv: string;
  readonly weight: number;
}

export function storedTarget(target: CatalogueTarget): StoredTarget {
  const price = target.price_pkr_per_million;
  return {
    provider: target.provider,
    upstreamModel: target.upstream_model,
    input: Number(price.input),
    output: Number(price.output),
    cacheWrite: Number(price.cache_write),
    cacheRead: Number(price.cache_read),
    cacheWrite1h: Number(price.cache_write_1h),
    priceTiers: price.tiers.map(storedTier),
    pricePerCall: Object.fromEntries(
      Object.entries(target.price_pkr_per_call).map(([name, amount]) => [name, Number(amount)]),
    ),
    byokFeeMillionths: Number(target.byok_fee_percent),
    priority: target.priority,
    weight: target.weight,
  };
}

function storedTier(tier: PriceTier): StoredTier {
  return {
    abovePromptTokens: tier.above_prompt_tokens,
    input: Number(tier.input),
    output: Number(tier.output),
    cacheWrite: Number(tier.cache_write),
    cacheRead: Number(tier.cache_read),
    cacheWrite1h: Number(tier.cache_write_1h),
  };
}

export function storedCredential({ name, api_key_env, weight }: CatalogueCredential): StoredCredential {
  return { name, apiKeyEnv: api_key_env, weight };
}
