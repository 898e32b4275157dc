import type { GatewayKey } from '../catalogue/queries.ts';
import { rateLimited } from '../http/gateway-error.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { type RateLimiter, retryAfterSeconds } from '../rates/rate-limiter.ts';

/** 429 when the key has used up its requests of the last 60 seconds. Notes how it stands in either case. */
export async function takeRate(exchange: Exchange, key: GatewayKey, rates: RateLimiter): Promise<void> {
  const decision = await rates.take(key.id, key.rateLimitRpm);
  exchange.rate = decision;
  if (!decision.isAllowed)
    throw rateLimited(decision.limit, retryAfterSeconds(decision), decision.retryAfterMs);
}
