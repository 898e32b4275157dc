import { createFairScheduler, type FairScheduler } from '@gatehouse/concurrency';
import type { Implementation } from '../http/implement.ts';
import type { AnalyticsDependencies, PageSizes } from './dependencies.ts';
import { createRequestRates } from './figures/request-rates.ts';
import { getBreakdown } from './get-breakdown.ts';
import { getSpend } from './get-spend.ts';
import { getSummary } from './get-summary.ts';
import { getTimeseries } from './get-timeseries.ts';
import { getTrend } from './get-trend.ts';
import { getUsageThrottling } from './get-usage-throttling.ts';
import { listRequests } from './list-requests.ts';
import { listSessions } from './list-sessions.ts';
import { showRequest } from './show-request.ts';

// How a request for analytics runs:
//
//   get-*, list-*, show-request       one file for each endpoint
//     findScope                       organisation, window, owned project and key, model (PostgreSQL)
//     QuerySession                    its queries: a permit, the engine, rows or 503, all until one deadline (ClickHouse)
//     pagedReply                      the pages of a long answer, each with a deadline of its own
//
// No database permit is held while the engine is asked. A long answer holds its place among the long ones from its first query, a
// series from its first page, to its last byte. A caller that leaves ends its queries, also in the engine.

// The embedded engine runs a few queries at once, each on all its processors; more would only be slower together. One
// place is left for the times of last use, which cannot wait.
const QUERIES = { permits: 3, permitsPerTenant: 2, queuePerTenant: 100 };
// Each holds a page or two in memory for as long as its reader takes, and nothing while it waits.
const LONG_ANSWERS = { permits: 24, permitsPerTenant: 2, queuePerTenant: 10 };
// 100,000 points are nine megabytes at most. A series of 5,000 buckets seldom has more than one page.
const PAGES: PageSizes = { points: 100_000, rows: 5_000, bytes: 8_000_000, buckets: 5_000 };
// The embedded engine restarts in a second or two after a crash.
const RETRY_DELAYS_MS = [1_000, 3_000, 8_000];

export type { PageSizes } from './dependencies.ts';

type AnalyticsOptions = Omit<
  AnalyticsDependencies,
  'longSeries' | 'exports' | 'rates' | 'pages' | 'retryDelaysMs'
> & {
  readonly pages?: PageSizes;
  readonly retryDelaysMs?: readonly number[];
};

/** Permits for queries of the telemetry store. */
export function createQueryScheduler(): FairScheduler {
  return createFairScheduler(QUERIES);
}

/** Makes the endpoints of this section, with schedulers that they share. */
export function analyticsEndpoints(options: AnalyticsOptions): Implementation[] {
  const dependencies: AnalyticsDependencies = {
    pages: PAGES,
    retryDelaysMs: RETRY_DELAYS_MS,
    ...options,
    longSeries: createFairScheduler(LONG_ANSWERS),
    exports: createFairScheduler(LONG_ANSWERS),
    rates: createRequestRates(),
  };
  return [
    getSummary(dependencies),
    getTimeseries(dependencies),
    getSpend(dependencies),
    getBreakdown(dependencies),
    getTrend(dependencies),
    getUsageThrottling(dependencies),
    listRequests(dependencies),
    listSessions(dependencies),
    showRequest(dependencies),
  ];
}
