import { z } from 'zod';
import { boundedRecord, text } from './file-text.ts';
import { amount } from './written-number.ts';

// The file format of prices: PKR in the file, micro-PKR here.

const MAX_TIERS = 8;
const MAX_CALLS = 16;

/** The price of a million tokens of each part. */
export interface TokenPrices {
  readonly input: bigint;
  readonly output: bigint;
  readonly cache_write: bigint;
  readonly cache_read: bigint;
  readonly cache_write_1h: bigint;
}

/** The prices of requests whose prompt has more tokens than this. */
export interface PriceTier extends TokenPrices {
  readonly above_prompt_tokens: number;
}

export interface Price extends TokenPrices {
  /** By ascending `above_prompt_tokens`. */
  readonly tiers: readonly PriceTier[];
}

export const TierMembers = z.strictObject({
  above_prompt_tokens: z.int().min(1).max(100_000_000),
  input: amount.optional(),
  output: amount.optional(),
  cache_write: amount.optional(),
  cache_read: amount.optional(),
  cache_write_1h: amount.optional(),
});

export const PriceMembers = z.strictObject({
  input: amount,
  output: amount,
  cache_write: amount.optional(),
  cache_read: amount.optional(),
  cache_write_1h: amount.optional(),
  tiers: z
    .array(TierMembers)
    .max(MAX_TIERS, { error: `must have at most ${MAX_TIERS} tiers` })
    .superRefine((tiers, context) => {
      tiers.forEach(({ above_prompt_tokens: tokens }, index) => {
        const previous = tiers[index - 1]?.above_prompt_tokens ?? 0;
        if (tokens > previous) return;
        context.addIssue({
          code: 'custom',
          path: [index, 'above_prompt_tokens'],
          message: `is ${tokens} and must be more than that of the tier before, which is ${previous}`,
        });
      });
    })
    .default([]),
});

// A provider charges for cached tokens one way or another; only a stated 0 makes them free.
export const Price = PriceMembers.transform(({ tiers, ...stated }): Price => {
  const cacheWrite = stated.cache_write ?? stated.input;
  const base: TokenPrices = {
    input: stated.input,
    output: stated.output,
    cache_write: cacheWrite,
    cache_read: stated.cache_read ?? stated.input,
    cache_write_1h: stated.cache_write_1h ?? cacheWrite,
  };
  return { ...base, tiers: tiers.map((tier) => tierPrices(tier, base)) };
});

/** A tier's prices; what it does not state costs what it costs below it. */
function tierPrices(tier: z.output<typeof TierMembers>, base: TokenPrices): PriceTier {
  return {
    above_prompt_tokens: tier.above_prompt_tokens,
    input: tier.input ?? base.input,
    output: tier.output ?? base.output,
    cache_write: tier.cache_write ?? base.cache_write,
    cache_read: tier.cache_read ?? base.cache_read,
    cache_write_1h: tier.cache_write_1h ?? base.cache_write_1h,
  };
}

export const CallPrices = boundedRecord(
  text(
    (value) => /^[a-z][a-z0-9_]{0,62}$/.test(value),
    'a name of lower-case letters, digits and _, such as web_search',
  ),
  amount,
  MAX_CALLS,
);
