import type { Scope } from '../telemetry.ts';
import type { Series } from './telemetry.ts';

const HOUR = 3_600n;
const MICROS = 1_000_000n;

/** Whole hours, in seconds since the epoch; the end is exclusive. */
export interface Hours {
  readonly fromSeconds: number;
  readonly toSeconds: number;
}

/** Below this many whole hours, or requests in them, reading the rows is as fast. */
const MIN_HOURS = 48n;
const MIN_REQUESTS = 400_000;
/** Reading rows with a filter tests each of them, and the rollup has few groups that pass it. */
const MIN_FILTERED_REQUESTS = 200_000;

/**
 * The hours that the hourly rollup can answer in place of the rows: the whole hours in the scope, where there are many,
 * where buckets begin on the hour, and where the engine has a rollup by what the query filters and groups by: by project
 * and key, or by model.
 */
export function rollupWindow(
  scope: Scope,
  series?: Pick<Series, 'grouping' | 'widthSeconds'>,
  requestsPerHour = Number.POSITIVE_INFINITY,
): Hours | undefined {
  if (series && BigInt(series.widthSeconds) % HOUR !== 0n) return undefined;
  const groupsByKey = series !== undefined && series.grouping !== 'model';
  const byKey = scope.projectId !== undefined || scope.keyId !== undefined || groupsByKey;
  const byModel = scope.model !== undefined || series?.grouping === 'model';
  if (byKey && byModel) return undefined;
  const from = (scope.fromMicros + HOUR * MICROS - 1n) / (HOUR * MICROS);
  const to = (scope.toMicros + 1n) / (HOUR * MICROS);
  const isFiltered = (scope.projectId ?? scope.keyId ?? scope.model) !== undefined;
  const minRequests = isFiltered ? MIN_FILTERED_REQUESTS : MIN_REQUESTS;
  if (to - from < MIN_HOURS || Number(to - from) * requestsPerHour < minRequests) return undefined;
  return { fromSeconds: Number(from * HOUR), toSeconds: Number(to * HOUR) };
}

/** The number of the bucket of an instant, counted from the epoch. */
export function bucketOf(micros: bigint, widthSeconds: number): bigint {
  return micros / (BigInt(widthSeconds) * MICROS);
}

/** The first instant of a bucket, in microseconds. */
export function startOfBucket(bucket: bigint, widthSeconds: number): bigint {
  return bucket * BigInt(widthSeconds) * MICROS;
}
