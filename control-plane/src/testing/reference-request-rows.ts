import { decimalFromMicroPkr, pkrNumber, timestampWithZ } from '@gatehouse/contract';
import type { StoredRequest } from '@gatehouse/store';

// The rows of an export, written by hand, column after column: the reference of a test and of bench/request-rows.ts.

interface Names {
  readonly keys: ReadonlyMap<string, string>;
  readonly projects: ReadonlyMap<string, string>;
}

/** A line of NDJSON. */
export function referenceNdjsonLine(row: StoredRequest, { keys, projects }: Names): string {
  const count = (digits: string | null) => (digits === null ? null : Number(digits));
  const named = (id: string | null, names: ReadonlyMap<string, string>) =>
    id === null ? null : { id, name: names.get(id) ?? null };
  return `${JSON.stringify({
    req_id: row.request_id,
    timestamp: timestampWithZ(BigInt(row.timestamp_micros)),
    model: row.model,
    status: row.status,
    stream: row.stream,
    key: named(row.key_id, keys),
    project: named(row.project_id, projects),
    metrics: {
      total_ms: row.total_ms,
      ttft_ms: row.ttft_ms,
      tpot_ms: row.tpot_ms,
      pre_dispatch_ms: row.pre_dispatch_ms,
      prompt_tokens: count(row.prompt_tokens),
      tokens_generated: Number(row.tokens_generated),
      cache_creation_input_tokens: count(row.cache_creation_input_tokens),
      cache_read_input_tokens: count(row.cache_read_input_tokens),
      total_tokens: Number(row.total_tokens),
      tokens_estimated: row.tokens_estimated,
    },
    financials: { cost_pkr: pkrNumber(BigInt(row.cost_micro_pkr)), is_byok: row.is_byok },
    status_detail: { termination_reason: row.termination_reason, upstream_error: row.upstream_error },
    upstream: row.upstream_model === null ? null : { model: row.upstream_model },
    user_agent: row.user_agent,
    metadata: Object.assign(Object.create(null), row.metadata),
    ...(row.request_count === 1 ? {} : { request_count: row.request_count }),
  })}\n`;
}

/** A line of CSV, for numbers without an exponent. */
export function referenceCsvLine(row: StoredRequest, { keys, projects }: Names): string {
  return `${[
    text(row.request_id),
    timestampWithZ(BigInt(row.timestamp_micros)),
    text(row.model),
    row.status,
    row.stream,
    row.key_id,
    text(keys.get(row.key_id ?? '') ?? null),
    row.project_id,
    text(projects.get(row.project_id ?? '') ?? null),
    row.total_ms,
    row.ttft_ms,
    row.tpot_ms,
    row.pre_dispatch_ms,
    row.prompt_tokens,
    row.tokens_generated,
    row.cache_creation_input_tokens,
    row.cache_read_input_tokens,
    row.total_tokens,
    row.tokens_estimated,
    decimalFromMicroPkr(BigInt(row.cost_micro_pkr)),
    row.is_byok,
    row.termination_reason,
    text(row.upstream_error),
    text(row.upstream_model),
    text(row.user_agent),
    quoted(JSON.stringify(row.metadata)),
    row.request_count,
  ].join(',')}\r\n`;
}

function text(value: string | null): string {
  if (value === null) return '';
  return quoted(/^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/.test(value) ? `'${value}` : value);
}

function quoted(value: string): string {
  return value === '' || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
