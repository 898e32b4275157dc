import type { Target, TokenPrices } from '../catalogue/route.ts';
import type { Usage } from '../formats/protocol.ts';
import { pricesFor, type RoutePrices, reachablePrices } from './prices.ts';
import { partsOf } from './usage-parts.ts';

// Money is an integer of micro-PKR in a bigint. A price is per million tokens or per call, and the platform's share is in
// millionths, so all products are summed first and divided once, and nothing is lost on the way.

const TOKENS_PER_PRICE = 1_000_000n;

/** The platform's share of a request on its own capacity. With the organisation's provider key it is the route's fee. */
export const WHOLE_PRICE_MILLIONTHS = 1_000_000n;

/** The platform's share of the price: all of it, or its fee where the organisation's own provider key is used. */
export function shareMillionths(target: Pick<Target, 'byokFeeMillionths'>, isByok: boolean): bigint {
  return isByok ? target.byokFeeMillionths : WHOLE_PRICE_MILLIONTHS;
}

const DIVISOR = TOKENS_PER_PRICE * WHOLE_PRICE_MILLIONTHS;

/** A trillion PKR. No sum of such amounts that admission lets through can leave a 64-bit column. */
export const MAX_MICRO_PKR = 10n ** 18n;

/** The cost of the usage at this share of the prices, to the nearest micro-PKR, half up. */
export function costMicroPkr(prices: RoutePrices, usage: Usage, shareMillionths: bigint): bigint {
  const tokens = tokensTimesPrice(pricesFor(prices, usage.promptTokens), usage);
  const product = tokens + callsTimesPrice(prices, usage.calls ?? {}) * TOKENS_PER_PRICE;
  return bounded((product * shareMillionths + DIVISOR / 2n) / DIVISOR);
}

function tokensTimesPrice(prices: TokenPrices, usage: Usage): bigint {
  const parts = partsOf(usage);
  const generated = parts.visibleTokens + parts.reasoningTokens;
  return (
    BigInt(parts.uncachedTokens) * prices.inputMicroPkrPerMillion +
    BigInt(parts.cacheReadTokens) * prices.cacheReadMicroPkrPerMillion +
    BigInt(parts.cacheWrite5mTokens) * prices.cacheWriteMicroPkrPerMillion +
    BigInt(parts.cacheWrite1hTokens) * prices.cacheWrite1hMicroPkrPerMillion +
    BigInt(generated) * prices.outputMicroPkrPerMillion
  );
}

function callsTimesPrice({ microPkrPerCall }: RoutePrices, calls: Readonly<Record<string, number>>): bigint {
  let product = 0n;
  for (const [name, price] of microPkrPerCall) {
    if (Object.hasOwn(calls, name)) product += BigInt(calls[name] ?? 0) * price;
  }
  return product;
}

/** The limits on what a request may use, beside what it generates. */
export interface Limits {
  /** The prompt as counted here. */
  readonly promptTokens: number;
  /** The most tokens that the provider may count in it; decides which tiers it can reach. */
  readonly reach: number;
  /** Answers asked for at once; 0 where nothing is generated. */
  readonly choices: number;
  /** Calls that have a price, by name. */
  readonly calls: Readonly<Record<string, number>>;
  readonly shareMillionths: bigint;
}

/** The cost of a request by its output cap: the reservation of a cap, and the largest cap of a reservation. */
export interface Reservation {
  /** The most that the request can cost, rounded up: every choice as long as it may be. */
  costAt(outputCap: number): bigint;
  /** The largest output cap up to `wanted` at which the request cannot cost more than the amount; 0 where none is. */
  largestCap(amountMicroPkr: bigint, wanted: number): number;
}

/**
 * The prompt at the most expensive way it can be billed, in the most expensive tier that it can reach: a provider's tokenizer
 * may find more tokens than ours, and a tier changes the price of the whole prompt.
 */
export function reservation(prices: RoutePrices, limits: Limits): Reservation {
  const { shareMillionths: share, choices } = limits;
  const calls = callsTimesPrice(prices, limits.calls) * TOKENS_PER_PRICE;
  const lines = reachablePrices(prices, limits.promptTokens, limits.reach).map((reachable) => ({
    base: (reachable.promptTokens * dearestInput(reachable.prices) + calls) * share,
    perOutputToken: BigInt(choices) * reachable.prices.outputMicroPkrPerMillion * share,
  }));
  const costAt = (outputCap: number) => {
    const products = lines.map(({ base, perOutputToken }) => base + perOutputToken * BigInt(outputCap));
    return bounded((largest(products) + DIVISOR - 1n) / DIVISOR);
  };
  return {
    costAt,
    largestCap(amountMicroPkr, wanted) {
      if (costAt(wanted) <= amountMicroPkr) return wanted;
      if (costAt(0) > amountMicroPkr) return 0;
      const caps = lines
        .filter(({ perOutputToken }) => perOutputToken > 0n)
        .map(({ base, perOutputToken }) => (amountMicroPkr * DIVISOR - base) / perOutputToken);
      // Below `wanted`, since that costs more, and so a number. One line at least has a price for the same reason.
      return Number(caps.reduce((least, cap) => (cap < least ? cap : least)));
    },
  };
}

function dearestInput(prices: TokenPrices): bigint {
  return largest([
    prices.inputMicroPkrPerMillion,
    prices.cacheReadMicroPkrPerMillion,
    prices.cacheWriteMicroPkrPerMillion,
    prices.cacheWrite1hMicroPkrPerMillion,
  ]);
}

function largest(amounts: readonly bigint[]): bigint {
  return amounts.reduce((most, amount) => (amount > most ? amount : most), 0n);
}

function bounded(amount: bigint): bigint {
  return amount > MAX_MICRO_PKR ? MAX_MICRO_PKR : amount;
}
