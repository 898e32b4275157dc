import { analytics, badRequest, pkrNumber, timestampWithZ } from '@gatehouse/contract';
import type { SummaryRow } from './figures/telemetry.ts';
import type { RequestRow } from './telemetry.ts';
import type { KeyTraffic } from './throttling/telemetry.ts';

/** Reads `2xx` to `5xx` as the first digit of a status. Throws the 400 that names the four. */
export function statusClass(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const category = analytics.STATUS_CATEGORIES.find((known) => known === given);
  if (category) return Number(category[0]);
  throw badRequest(`status_category must be one of ${analytics.STATUS_CATEGORIES.join(', ')}.`);
}

/** The figures of a window. The cost is told only where it is one key's. */
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

/** Names by id, as far as they have one. */
export interface Names {
  readonly keys: ReadonlyMap<string, string>;
  readonly projects: ReadonlyMap<string, string>;
}

/** A row of the request log as it is answered. */
export function requestLogEntry(row: RequestRow, names: Names) {
  return {
    req_id: row.request_id,
    timestamp: timestampWithZ(BigInt(row.micros)),
    model: row.model,
    status: row.status,
    stream: row.stream,
    key: named(row.key_id, names.keys),
    project: named(row.project_id, names.projects),
    metrics: {
      total_ms: row.total_ms,
      ttft_ms: row.ttft_ms,
      tpot_ms: row.tpot_ms,
      pre_dispatch_ms: row.pre_dispatch_ms,
      prompt_tokens: count(row.prompt_tokens_text),
      tokens_generated: Number(row.tokens_generated_text),
      cache_creation_input_tokens: count(row.cache_creation_input_tokens_text),
      cache_read_input_tokens: count(row.cache_read_input_tokens_text),
      total_tokens: Number(row.total_tokens_text),
      tokens_estimated: row.tokens_estimated,
    },
    financials: {
      cost_pkr: pkrNumber(BigInt(row.cost)),
      is_byok: row.is_byok,
    },
    status_detail: {
      termination_reason: row.termination_reason,
      upstream_error: row.upstream_error,
    },
    upstream: row.upstream_model === null ? null : { model: row.upstream_model },
    user_agent: row.user_agent,
    metadata: withoutPrototype(row.metadata),
    ...(row.requests_of_row > 1 ? { request_count: row.requests_of_row } : {}),
  };
}

/** What is known of a key besides its traffic. */
export interface KnownKey {
  readonly name: string | null;
  readonly rate_limit_rpm: number;
  readonly project_id: string;
  readonly project_name: string;
}

/** The traffic of a key as it is answered. */
export function throttlingEntry(row: KeyTraffic, known: KnownKey | undefined) {
  const { key, last_throttled_micros } = row;
  return {
    key: { id: key, name: known?.name ?? null },
    project: known ? { id: known.project_id, name: known.project_name } : null,
    rate_limit_rpm: known?.rate_limit_rpm ?? null,
    requests: Number(row.requests_text),
    throttled: Number(row.throttled_text),
    peak_rpm: Number(row.peak_text),
    last_throttled_at: last_throttled_micros === null ? null : timestampWithZ(BigInt(last_throttled_micros)),
  };
}

function named(id: string | null, names: ReadonlyMap<string, string>) {
  return id === null ? null : { id, name: names.get(id) ?? null };
}

function count(text: string | null): number | null {
  return text === null ? null : Number(text);
}

// The names come from callers' headers, and one of them can be `__proto__`.
function withoutPrototype(entries: Readonly<Record<string, string>>): Record<string, string> {
  return Object.assign(Object.create(null), entries);
}
