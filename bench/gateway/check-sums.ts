import type { StartedGatehouse } from './gatehouse.ts';
import type { Kind } from './options.ts';
import type { Check } from './report.ts';

/** The cost of one request: its tokens at a price of 1 PKR per million of each. */
const PRICE_MICRO_PKR: Readonly<Record<Kind, number>> = { json: 9 + 3, sse: 9 + 50 };

/** More than a request that was left can be charged: its prompt and the 64 tokens that it may generate. */
const MAX_HELD_MICRO_PKR = 128;

/** The requests that a subject was sent, warm-up included. */
export interface Sent {
  /** Answered with 200. */
  answered: number;
  /** The most that the load generators left in flight when they ended. */
  abandoned: number;
}

/**
 * Every answer was charged, at the price of its usage. wrk leaves what is in flight when it ends; such a request is charged if
 * it had reached the provider: by its usage, or by its hold where too many were left at once to be read to their end.
 */
export async function checkSums(
  gatehouse: StartedGatehouse,
  sent: Readonly<Record<Kind, Sent>>,
  kinds: readonly Kind[],
): Promise<Check[]> {
  const { ledgerMicroPkr, log } = await gatehouse.recorded();
  const { name } = gatehouse.subject;
  const checks = kinds.map((kind): Check => {
    const { answered, abandoned } = sent[kind];
    const { requests, costMicroPkr } = log[kind];
    const leastMicroPkr = answered * PRICE_MICRO_PKR[kind];
    return {
      name: `${name}, ${kind === 'json' ? 'JSON' : 'SSE'}: recorded requests and their cost`,
      isRight:
        requests >= answered &&
        requests <= answered + abandoned &&
        costMicroPkr >= leastMicroPkr &&
        costMicroPkr <= leastMicroPkr + (requests - answered) * MAX_HELD_MICRO_PKR,
      detail: `${answered} answered for ${leastMicroPkr} µPKR, ${requests} recorded for ${costMicroPkr} µPKR`,
    };
  });
  const sum = kinds.reduce((total, kind) => total + log[kind].costMicroPkr, 0);
  checks.push({
    name: `${name}: what the ledger has spent is what the request log adds up to`,
    isRight: ledgerMicroPkr === sum,
    detail: `${ledgerMicroPkr} and ${sum} µPKR`,
  });
  return checks;
}
