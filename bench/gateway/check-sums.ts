import type { StartedGatehouse } from './gatehouse.ts';
import type { Kind } from './options.ts';
import type { Check } from './report.ts';

/** What one request costs: its tokens at a price of 1 PKR per million of each. */
const PRICE_MICRO_PKR: Readonly<Record<Kind, number>> = { json: 9 + 3, sse: 9 + 50 };

/** The requests that a subject was sent, warm-up included. */
export interface Sent {
  /** Answered with 200. */
  answered: number;
  /** The most that the load generators left in flight when they ended. */
  abandoned: number;
}

/**
 * Every answer was charged, at the price of its usage. wrk leaves what is in flight when it ends; such a request is charged if
 * it had reached the provider.
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
    const charged = costMicroPkr / PRICE_MICRO_PKR[kind];
    return {
      name: `${name}, ${kind === 'json' ? 'JSON' : 'SSE'}: recorded requests and their cost`,
      isRight:
        requests >= answered &&
        requests <= answered + abandoned &&
        Number.isInteger(charged) &&
        charged >= answered &&
        charged <= requests,
      detail: `${answered} answered, ${requests} recorded, ${charged} charged at ${PRICE_MICRO_PKR[kind]} µPKR`,
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
