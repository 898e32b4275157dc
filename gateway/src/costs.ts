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

/** The most that a request can cost, rounded up: every choice as long as it may be. */
export function reservationMicroPkr(
  prices: Prices,
  promptTokens: number,
  outputCap: number,
  choices: number,
): bigint {
  const product = tokensTimesPrice(prices, BigInt(promptTokens), BigInt(outputCap) * BigInt(choices));
  return bounded((product + TOKENS_PER_PRICE - 1n) / TOKENS_PER_PRICE);
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

/** The highest that the fee can be, rounded up: the prompt at the dearest way to read it. */
export function byokReservationMicroPkr(
  prices: ByokPrices,
  promptTokens: number,
  outputCap: number,
  choices: number,
): bigint {
  const { inputMicroPkrPerMillion: input, cacheWriteMicroPkrPerMillion: write } = prices;
  const inputMicroPkrPerMillion = [input, write, prices.cacheReadMicroPkrPerMillion].reduce((most, one) =>
    one > most ? one : most,
  );
  const product = tokensTimesPrice(
    { inputMicroPkrPerMillion, outputMicroPkrPerMillion: prices.outputMicroPkrPerMillion },
    BigInt(promptTokens),
    BigInt(outputCap) * BigInt(choices),
  );
  return bounded((product * prices.byokFeeMillionths + FEE_DIVISOR - 1n) / FEE_DIVISOR);
}

function tokensTimesPrice(prices: Prices, promptTokens: bigint, completionTokens: bigint): bigint {
  return promptTokens * prices.inputMicroPkrPerMillion + completionTokens * prices.outputMicroPkrPerMillion;
}

function bounded(amount: bigint): bigint {
  return amount > MOST_MICRO_PKR ? MOST_MICRO_PKR : amount;
}
