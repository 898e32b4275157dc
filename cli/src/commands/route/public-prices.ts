import { calcPrice, type ModelPrice } from '@pydantic/genai-prices';

/** Prices in dollars per million tokens. */
interface Dollars {
  readonly input: number;
  readonly output: number;
  readonly cache_write: number;
  readonly cache_read: number;
}

/** The prices of a model, as its provider publishes them. */
export interface PublicPrice extends Dollars {
  /** The prices of longer prompts; ascending. */
  readonly tiers: readonly (Dollars & { readonly above_prompt_tokens: number })[];
  /** A page of the provider; undefined where none is known. */
  readonly source: string | undefined;
}

/** The package that the prices are from, whose maintainers collect them from the providers' pages, and when it was made. */
export const PRICES_FROM = { name: '@pydantic/genai-prices', version: '0.1.8', date: '2026-09-23' };

// By what the catalogue, or LiteLLM, calls a provider. Others have the same name there.
const PROVIDERS: Readonly<Record<string, string>> = {
  gemini: 'google',
  xai: 'x-ai',
  together_ai: 'together',
  fireworks_ai: 'fireworks',
  bedrock: 'aws',
};

/** Looks a model up. Undefined where it is not known: nothing is guessed from another. */
export function publicPrice(provider: string, model: string): PublicPrice | undefined {
  const found = calcPrice({ input_tokens: 1 }, model, { providerId: PROVIDERS[provider] ?? provider });
  if (!found) return undefined;
  const { model_price: price, provider: publisher } = found;
  if (price['input_mtok'] === undefined || price['output_mtok'] === undefined) return undefined;
  const starts = Object.values(price).flatMap((one) =>
    typeof one === 'object' ? one.tiers.map(({ start }) => start) : [],
  );
  return {
    ...pricesAt(price, 0),
    tiers: [...new Set(starts)]
      .sort((one, other) => one - other)
      .map((start) => ({ above_prompt_tokens: start, ...pricesAt(price, start) })),
    source: publisher.pricing_urls?.[0],
  };
}

/** The prices of a prompt of more than so many tokens. A cache that has no price of its own costs what input does. */
function pricesAt(price: ModelPrice, tokens: number): Dollars {
  const of = (part: string): number | undefined => {
    const stated = price[part];
    if (typeof stated !== 'object') return stated;
    return stated.tiers.findLast(({ start }) => start <= tokens)?.price ?? stated.base;
  };
  const input = of('input_mtok') ?? 0;
  return {
    input,
    output: of('output_mtok') ?? 0,
    cache_write: of('cache_write_mtok') ?? input,
    cache_read: of('cache_read_mtok') ?? input,
  };
}

/** The same in PKR, as a catalogue writes it. */
export function pkrPrices(prices: Dollars, usdPkr: number): Dollars {
  const { input, output, cache_write, cache_read } = prices;
  return {
    input: inPkr(input, usdPkr),
    output: inPkr(output, usdPkr),
    cache_write: inPkr(cache_write, usdPkr),
    cache_read: inPkr(cache_read, usdPkr),
  };
}

/** Dollars in PKR, as a catalogue writes them: at most 6 decimals. */
export function inPkr(dollars: number, usdPkr: number): number {
  return Number((dollars * usdPkr).toFixed(6));
}
