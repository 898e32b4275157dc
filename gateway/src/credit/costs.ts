// Money is an integer of micro-PKR in a bigint. A price is per million tokens, so the products are summed first
// and divided once, and nothing is lost on the way.

const TOKENS_PER_PRICE = 1_000_000n;

/** A trillion PKR. No sum of such amounts that admission lets through can leave a 64-bit column. */
export const MOST_MICRO_PKR = 10n ** 18n;

export interface Prices {
  readonly inputMicroPkrPerMillion: bigint;
  readonly outputMicroPkrPerMillion: bigint;
}

/** What the tokens cost, to the nearest micro-PKR, half up. */
export function costMicroPkr(prices: Prices, promptTokens: number, completionTokens: number): bigint {
  const product = tokensTimesPrice(prices, BigInt(promptTokens), BigInt(completionTokens));
  return bounded((product + TOKENS_PER_PRICE / 2n) / TOKENS_PER_PRICE);
}

/** What a request can cost, by its output cap: the reservation of a cap, and the largest cap of a reservation. */
export interface Reservation {
  /** The most that the request can cost, rounded up: every choice as long as it may be. */
  costAt(outputCap: number): bigint;
  /** The largest output cap up to `wanted` at which the request cannot cost more than the amount; 0 where none is. */
  largestCap(amountMicroPkr: bigint, wanted: number): number;
}

/** Of a request on platform capacity. */
export function reservation(prices: Prices, promptTokens: number, choices: number): Reservation {
  return linear({
    base: BigInt(promptTokens) * prices.inputMicroPkrPerMillion,
    perOutputToken: BigInt(choices) * prices.outputMicroPkrPerMillion,
    divisor: TOKENS_PER_PRICE,
  });
}

/** What the platform takes of a request that goes out with the organisation's own key for the provider. */
export interface ByokPrices extends Prices {
  readonly cacheWriteMicroPkrPerMillion: bigint;
  readonly cacheReadMicroPkrPerMillion: bigint;
  /** Its share of the price, in millionths. */
  readonly byokFeeMillionths: bigint;
}

export interface ByokTokens {
  /** Those of the prompt that have to do with no cache. */
  readonly promptTokens: number;
  readonly cacheWriteTokens: number;
  readonly cacheReadTokens: number;
  readonly completionTokens: number;
}

const FEE_DIVISOR = TOKENS_PER_PRICE * 1_000_000n;

/** The platform's fee for the tokens, to the nearest micro-PKR, half up: divided once, as a price is. */
export function byokFeeMicroPkr(prices: ByokPrices, tokens: ByokTokens): bigint {
  const product =
    tokensTimesPrice(prices, BigInt(tokens.promptTokens), BigInt(tokens.completionTokens)) +
    BigInt(tokens.cacheWriteTokens) * prices.cacheWriteMicroPkrPerMillion +
    BigInt(tokens.cacheReadTokens) * prices.cacheReadMicroPkrPerMillion;
  return bounded((product * prices.byokFeeMillionths + FEE_DIVISOR / 2n) / FEE_DIVISOR);
}

/** Of a request with the organisation's own key for the provider, the fee: the prompt at the dearest way to read it. */
export function byokReservation(prices: ByokPrices, promptTokens: number, choices: number): Reservation {
  const { inputMicroPkrPerMillion: input, cacheWriteMicroPkrPerMillion: write } = prices;
  const dearest = [input, write, prices.cacheReadMicroPkrPerMillion].reduce((most, one) =>
    one > most ? one : most,
  );
  return linear({
    base: BigInt(promptTokens) * dearest * prices.byokFeeMillionths,
    perOutputToken: BigInt(choices) * prices.outputMicroPkrPerMillion * prices.byokFeeMillionths,
    divisor: FEE_DIVISOR,
  });
}

/** (base + perOutputToken * cap) / divisor, rounded up and bounded. */
function linear(parts: { base: bigint; perOutputToken: bigint; divisor: bigint }): Reservation {
  const { base, perOutputToken, divisor } = parts;
  const costAt = (outputCap: number) =>
    bounded((base + perOutputToken * BigInt(outputCap) + divisor - 1n) / divisor);
  return {
    costAt,
    largestCap(amountMicroPkr, wanted) {
      if (costAt(wanted) <= amountMicroPkr) return wanted;
      if (costAt(0) > amountMicroPkr) return 0;
      // Below `wanted`, since that costs more, and so a number; the price is not 0 for the same reason.
      return Number((amountMicroPkr * divisor - base) / perOutputToken);
    },
  };
}

function tokensTimesPrice(prices: Prices, promptTokens: bigint, completionTokens: bigint): bigint {
  return promptTokens * prices.inputMicroPkrPerMillion + completionTokens * prices.outputMicroPkrPerMillion;
}

function bounded(amount: bigint): bigint {
  return amount > MOST_MICRO_PKR ? MOST_MICRO_PKR : amount;
}
