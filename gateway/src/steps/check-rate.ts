import { rateLimited } from '../http/gateway-error.ts';
import type { Context } from '../pipeline/context.ts';
import { retryAfterSeconds } from '../rates/rate-limiter.ts';

/** 429 when the key has used up its requests of the last 60 seconds. */
export function checkRate({ rate }: Pick<Context, 'rate'>): void {
  if (!rate.isAllowed) throw rateLimited(rate.limit, retryAfterSeconds(rate), rate.retryAfterMs);
}
