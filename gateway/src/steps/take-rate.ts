import type { Context } from '../pipeline/context.ts';
import type { Dependencies } from '../pipeline/dependencies.ts';
import type { Exchange } from '../pipeline/exchange.ts';

/** Counts the request against the key's rate, unless a run on presumed facts did. */
export async function takeRate(
  { key, countedRate }: Pick<Context, 'key' | 'countedRate'>,
  _exchange: Exchange,
  { rates }: Pick<Dependencies, 'rates'>,
): Promise<Pick<Context, 'rate'>> {
  const limit = key.rateLimitRpm;
  if (!countedRate?.isAllowed) return { rate: await rates.take(key.id, limit) };
  if (countedRate.limit === limit) return { rate: countedRate };
  // The request is among those that are counted: it is within the limit if one more would be within the next.
  const { isAllowed } = await rates.peek(key.id, limit + 1);
  return { rate: { ...(await rates.peek(key.id, limit)), isAllowed } };
}
