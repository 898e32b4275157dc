import { analytics, badRequest, pkrNumber, timestampWithZ } from '@gatehouse/contract';
import type { SummaryRow } from './figures/telemetry.ts';
import type { ThrottledKeyRow } from './queries.ts';
import type { RequestFilter } from './telemetry.ts';
import type { KeyTraffic } from './throttling/telemetry.ts';

/** Reads `2xx` to `5xx` as the first digit of a status. Throws the 400 that names the four. */
export function statusClass(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const category = analytics.STATUS_CATEGORIES.find((known) => known === given);
  if (category) return Number(category[0]);
  throw badRequest(`status_category must be one of ${analytics.STATUS_CATEGORIES.join(', ')}.`);
}

/** The conditions of a request to an endpoint that filters rows, parsed. */
interface FilterQuery {
  readonly status_category?: string | undefined;
  readonly termination_reason?: string | undefined;
  readonly error_code?: string | undefined;
  readonly min_cost_pkr?: bigint | undefined;
  readonly search?: string | undefined;
}

/** Every request passes. */
export const NO_FILTER: RequestFilter = {
  statusClass: undefined,
  terminationReason: undefined,
  errorCode: undefined,
  minCostMicroPkr: undefined,
  search: undefined,
};

/** Throws the 400 for an unknown status category. */
export function requestFilter(query: FilterQuery): RequestFilter {
  return {
    statusClass: statusClass(query.status_category),
    terminationReason: query.termination_reason,
    errorCode: query.error_code,
    minCostMicroPkr: query.min_cost_pkr,
    search: query.search,
  };
}

/** The figures of a window. The cost is included only for one key. */
export function summaryFields(row: SummaryRow, isOfOneKey: boolean) {
  return {
    total_requests: Number(row.requests_text),
    avg_e2e_latency_ms: row.mean_total_ms,
    avg_ttft_ms: row.mean_ttft_ms,
    avg_tokens_per_sec: row.tokens_a_second,
    total_token_usage: Number(row.tokens_text),
    ...(isOfOneKey ? { total_cost_pkr: pkrNumber(BigInt(row.cost_text)) } : {}),
  };
}

/** The traffic of a key as the API sends it. */
export function throttlingEntry(
  row: KeyTraffic,
  known: ThrottledKeyRow | undefined,
  rateLimitCeilingRpm: number,
) {
  const { key, last_throttled_micros } = row;
  return {
    key: { id: key, name: known?.name ?? null },
    project: known ? { id: known.projectId, name: known.projectName } : null,
    rate_limit_rpm: known ? Math.min(known.rateLimitRpm, rateLimitCeilingRpm) : null,
    requests: Number(row.requests_text),
    throttled: Number(row.throttled_text),
    peak_rpm: Number(row.peak_text),
    last_throttled_at: last_throttled_micros === null ? null : timestampWithZ(BigInt(last_throttled_micros)),
  };
}
