import type { Target, TokenPrices } from '../catalogue/route.ts';

/** The prices of a target. The prices of a request are those that were read at its admission. */
export type RoutePrices = TokenPrices & Pick<Target, 'priceTiers' | 'microPkrPerCall'>;

/** The prices of a prompt of this many tokens: those of the last tier that begins below it apply to the whole request. */
export function pricesFor(prices: RoutePrices, promptTokens: number): TokenPrices {
  return prices.priceTiers.findLast((tier) => promptTokens > tier.abovePromptTokens) ?? prices;
}

export interface ReachablePrices {
  readonly prices: TokenPrices;
  /** The most tokens that the prompt can have at these prices. */
  readonly promptTokens: bigint;
}

/**
 * Every price that can apply to a prompt that was counted here as this many tokens, and that the provider may count as
 * up to `reach`.
 */
export function reachablePrices(
  prices: RoutePrices,
  promptTokens: number,
  reach: number,
): readonly ReachablePrices[] {
  const { priceTiers } = prices;
  const counted = BigInt(promptTokens);
  const ends = priceTiers.map(({ abovePromptTokens }) => abovePromptTokens);
  const most = (least: bigint, end: bigint | undefined) => {
    const tokens = counted > least ? counted : least;
    return end !== undefined && end < tokens ? end : tokens;
  };
  const tiers = priceTiers.flatMap((tier, index) =>
    tier.abovePromptTokens < BigInt(reach)
      ? { prices: tier, promptTokens: most(tier.abovePromptTokens + 1n, ends[index + 1]) }
      : [],
  );
  return [{ prices, promptTokens: most(0n, ends[0]) }, ...tiers];
}
