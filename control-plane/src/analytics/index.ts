import { createFairScheduler } from '@gatehouse/concurrency';
import type { Implementation } from '../http/implement.ts';
import { createDensity } from './figures/density.ts';
import { getSummary } from './get-summary.ts';
import { getTimeseries } from './get-timeseries.ts';
import { getUsageThrottling } from './get-usage-throttling.ts';
import { listRequests } from './list-requests.ts';
import type { AnalyticsParts, PageSizes } from './parts.ts';

// The embedded engine answers a few questions at once, each on all its processors; more would only be slower together.
// One place is left for the times of last use, which cannot wait.
const QUESTIONS = { permits: 3, permitsPerTenant: 2, queuePerTenant: 100 };
// Each holds a page or two in memory for as long as its reader takes, and nothing while it waits.
const LONG_ANSWERS = { permits: 24, permitsPerTenant: 2, queuePerTenant: 10 };
// Some nine megabytes of points at most. A series of as many buckets seldom has more than a page.
const PAGES: PageSizes = { points: 100_000, rows: 5_000, bytes: 8_000_000, buckets: 5_000 };
// The embedded engine is back a second or two after it was killed.
const PAUSES_MS = [1_000, 3_000, 8_000];

export type { PageSizes } from './parts.ts';

/** What is given, besides what the section makes for itself. */
type Given = Omit<
  AnalyticsParts,
  'questions' | 'longSeries' | 'exports' | 'density' | 'pages' | 'pausesMs'
> & {
  readonly pages?: PageSizes;
  readonly pausesMs?: readonly number[];
};

export function analyticsEndpoints(given: Given): Implementation[] {
  const parts: AnalyticsParts = {
    pages: PAGES,
    pausesMs: PAUSES_MS,
    ...given,
    questions: createFairScheduler(QUESTIONS),
    longSeries: createFairScheduler(LONG_ANSWERS),
    exports: createFairScheduler(LONG_ANSWERS),
    density: createDensity(),
  };
  return [getSummary(parts), getTimeseries(parts), getUsageThrottling(parts), listRequests(parts)];
}
