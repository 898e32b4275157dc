import type { Context } from '../context/context.ts';
import type { Dependencies } from '../context/dependencies.ts';
import { StepRefusal } from '../context/step.ts';
import { rateLimited } from '../errors/gateway-error.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { type RateDecision, retryAfterSeconds } from '../rates/rate-limiter.ts';

type Needs = Pick<Context, 'key' | 'countedRate'>;
type Using = Pick<Dependencies, 'rates'>;

/** Counts the request against the key's rate. 429 when the key has used up its requests of the last 60 seconds. */
export async function takeRate(
  context: Needs,
  _exchange: Exchange,
  dependencies: Using,
): Promise<Pick<Context, 'rate'> | StepRefusal> {
  const rate = await countOnce(context, dependencies);
  if (rate.isAllowed) return { rate };
  return new StepRefusal(rateLimited(rate.limit, retryAfterSeconds(rate), rate.retryAfterMs), { rate });
}

/** Counts it unless a run on presumed facts did. */
async function countOnce({ key, countedRate }: Needs, { rates }: Using): Promise<RateDecision> {
  const limit = key.rateLimitRpm;
  if (!countedRate?.isAllowed) return rates.take(key.id, limit);
  if (countedRate.limit === limit) return countedRate;
  // The request is among those that are counted: it is within the limit if one more would be within the next.
  const { isAllowed } = await rates.peek(key.id, limit + 1);
  return { ...(await rates.peek(key.id, limit)), isAllowed };
}
