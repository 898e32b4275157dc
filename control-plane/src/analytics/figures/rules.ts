import type { Scope } from '../telemetry.ts';
import type { Series } from './telemetry.ts';

const HOUR = 3_600n;
const MICROS = 1_000_000n;

/** Whole hours, in seconds since the epoch; the last one is no longer in it. */
export interface Hours {
  readonly fromSeconds: number;
  readonly toSeconds: number;
}

/** Below this many whole hours, or of requests in them, the rows themselves are read as fast. */
const MIN_HOURS = 48n;
const MIN_REQUESTS = 400_000;
/** Where a filter has to be looked at in each row, and few of the sums are of it. */
const MIN_FILTERED_REQUESTS = 200_000;

/**
 * The hours of the scope whose sums can stand for their rows: those that lie in it whole, where there are many, where a
 * bucket begins with an hour, and where the engine keeps the sums by what is asked for: by project and key, or by model.
 */
export function rollupWindow(
  scope: Scope,
  series?: Series,
  requestsAnHour = Number.POSITIVE_INFINITY,
): Hours | undefined {
  if (series && BigInt(series.widthSeconds) % HOUR !== 0n) return undefined;
  const byKey = scope.projectId !== undefined || scope.keyId !== undefined || isOfKeys(series);
  const byModel = scope.model !== undefined || series?.grouping === 'model';
  if (byKey && byModel) return undefined;
  const from = (scope.fromMicros + HOUR * MICROS - 1n) / (HOUR * MICROS);
  const to = (scope.toMicros + 1n) / (HOUR * MICROS);
  const isFiltered = (scope.projectId ?? scope.keyId ?? scope.model) !== undefined;
  const least = isFiltered ? MIN_FILTERED_REQUESTS : MIN_REQUESTS;
  if (to - from < MIN_HOURS || Number(to - from) * requestsAnHour < least) return undefined;
  return { fromSeconds: Number(from * HOUR), toSeconds: Number(to * HOUR) };
}

function isOfKeys(series: Series | undefined): boolean {
  return series !== undefined && series.grouping !== 'model';
}

/** The number of the bucket that an instant lies in. */
export function bucketOf(micros: bigint, widthSeconds: number): bigint {
  return micros / (BigInt(widthSeconds) * MICROS);
}

/** The first instant of a bucket, in microseconds. */
export function startOfBucket(bucket: bigint, widthSeconds: number): bigint {
  return bucket * BigInt(widthSeconds) * MICROS;
}
