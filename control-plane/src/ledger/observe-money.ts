import { systemClock } from '@gatehouse/concurrency';
import { type Metrics, moneyMetrics } from '@gatehouse/observability';
import type { Queryable } from '@gatehouse/store';
import { sumBalances } from './queries.ts';

// The sums read a row of every organisation, so however often they are scraped, they are read this often at most.
const INTERVAL_MS = 15_000;
// Older figures are left out: a gap in a graph says more than a line that does not move.
const STALE_MS = 60_000;
const MICRO_PKR_OF_PKR = 1e6;

/** Reports at each scrape what all organisations have deposited and spent, and what is held. */
export function observeMoney(
  metrics: Metrics,
  database: Pick<Queryable, 'one'>,
  monotonicMs: () => number = systemClock.monotonicMs,
): void {
  let sums: Awaited<ReturnType<typeof read>>;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  const read = () => database.one(sumBalances);
  const refresh = async () => {
    const startedAtMs = monotonicMs();
    sums = await read();
    readAtMs = startedAtMs;
  };

  metrics.prepare(async () => {
    if (monotonicMs() - readAtMs < INTERVAL_MS) return;
    reading ??= refresh().finally(() => {
      reading = undefined;
    });
    await reading;
  });
  const sum = (declaration: typeof moneyMetrics.spent, member: keyof NonNullable<typeof sums>) =>
    metrics.observe(declaration, (report) => {
      if (sums && monotonicMs() - readAtMs < STALE_MS) report(Number(sums[member]) / MICRO_PKR_OF_PKR);
    });
  sum(moneyMetrics.deposited, 'depositedMicroPkr');
  sum(moneyMetrics.spent, 'spentMicroPkr');
  sum(moneyMetrics.held, 'heldMicroPkr');
  sum(moneyMetrics.unsettled, 'unsettledMicroPkr');
}
