import type { Context } from '../pipeline/context.ts';
import type { Dependencies } from '../pipeline/dependencies.ts';
import type { Exchange } from '../pipeline/exchange.ts';

/** Counts the request against the key's rate. */
export async function takeRate(
  { key }: Pick<Context, 'key'>,
  _exchange: Exchange,
  { rates }: Pick<Dependencies, 'rates'>,
): Promise<Pick<Context, 'rate'>> {
  return { rate: await rates.take(key.id, key.rateLimitRpm) };
}
