import type { analytics } from '@gatehouse/contract';
import type { Owned } from '../keys/index.ts';
import type { Question } from '../lib/ask-telemetry.ts';

/** What is looked at: always one organisation, always a window, and at most these parts of it. */
export interface Scope {
  readonly organizationId: string;
  /** Both ends belong to the window; microseconds since the epoch. */
  readonly fromMicros: bigint;
  readonly toMicros: bigint;
  readonly projectId: Owned<'project'> | undefined;
  readonly keyId: Owned<'key'> | undefined;
  readonly model: string | undefined;
}

/** What a row must be, besides lying in the scope. */
export interface RequestFilter {
  /** The first digit of the status. */
  readonly statusClass: number | undefined;
  readonly terminationReason: string | undefined;
  readonly minCostMicroPkr: bigint | undefined;
  readonly search: string | undefined;
}

// Text that stands for 64-bit integers: JSON numbers would round them. No alias below may be the name of a column,
// for the engine would then read it in the conditions too.

export interface SummaryRow {
  readonly requests: string;
  readonly mean_total_ms: number | null;
  readonly mean_ttft_ms: number | null;
  /** Tokens of the rows whose generation time is known, and that time. */
  readonly timed_tokens: string;
  readonly timed_ms: number | null;
  readonly tokens: string;
  /** Micro-PKR. */
  readonly cost: string;
}

export interface RequestRow {
  readonly request_id: string;
  readonly micros: string;
  readonly model: string;
  readonly status: number;
  readonly stream: boolean;
  readonly key_id: string | null;
  readonly project_id: string | null;
  readonly total_ms: number;
  readonly ttft_ms: number | null;
  readonly tpot_ms: number | null;
  readonly pre_dispatch_ms: number;
  readonly prompt_tokens_text: string | null;
  readonly tokens_generated_text: string;
  readonly cache_creation_input_tokens_text: string | null;
  readonly cache_read_input_tokens_text: string | null;
  readonly total_tokens_text: string;
  readonly tokens_estimated: boolean;
  /** Micro-PKR. */
  readonly cost: string;
  readonly is_byok: 0 | 1;
  readonly termination_reason: analytics.TerminationReason;
  readonly upstream_error: string | null;
  readonly upstream_model: string | null;
  readonly user_agent: string;
  readonly metadata: Readonly<Record<string, string>>;
}

// A stream generates from its first token on, any other response from when the upstream was asked. Null where a
// stream's first token is not known.
const GENERATION_MS = 'if(stream, total_ms - ttft_ms, total_ms - pre_dispatch_ms)';
const IS_TIMED = `tokens_generated > 0 AND isNotNull(${GENERATION_MS})`;

export function summary(scope: Scope): Question<SummaryRow> {
  const { sql, values } = conditions(scope);
  return {
    sql: `SELECT toString(count()) AS requests,
                 avgOrNull(total_ms) AS mean_total_ms,
                 avgOrNull(ttft_ms) AS mean_ttft_ms,
                 toString(sumIf(tokens_generated, ${IS_TIMED})) AS timed_tokens,
                 sumIf(${GENERATION_MS}, ${IS_TIMED}) AS timed_ms,
                 toString(sum(total_tokens)) AS tokens,
                 toString(sum(cost_micro_pkr)) AS cost
          FROM request_log
          WHERE ${sql}`,
    values,
  };
}

export function countRequests(scope: Scope, filter: RequestFilter): Question<{ matching: string }> {
  const { sql, values } = conditions(scope, filter);
  return { sql: `SELECT toString(count()) AS matching FROM request_log WHERE ${sql}`, values };
}

// Newest first, and among equals the id decides, downwards too: the order in which the table lies, read backwards. So
// the engine stops at the end of the page; with the ids upwards it would sort the whole window (five times as long
// for two million rows).
export function listRequests(
  scope: Scope,
  filter: RequestFilter,
  page: { readonly limit: number; readonly offset: number },
): Question<RequestRow> {
  const { sql, values } = conditions(scope, filter);
  return {
    sql: `SELECT request_id, toString(toUnixTimestamp64Micro(timestamp)) AS micros,
                 model, status, stream, key_id, project_id,
                 total_ms, ttft_ms, tpot_ms, pre_dispatch_ms,
                 toString(prompt_tokens) AS prompt_tokens_text,
                 toString(tokens_generated) AS tokens_generated_text,
                 toString(cache_creation_input_tokens) AS cache_creation_input_tokens_text,
                 toString(cache_read_input_tokens) AS cache_read_input_tokens_text,
                 toString(total_tokens) AS total_tokens_text,
                 tokens_estimated, toString(cost_micro_pkr) AS cost, is_byok,
                 termination_reason, upstream_error, upstream_model, user_agent, metadata
          FROM request_log
          WHERE ${sql}
          ORDER BY timestamp DESC, request_id DESC
          LIMIT {limit:UInt64} OFFSET {offset:UInt64}`,
    values: { ...values, limit: page.limit, offset: page.offset },
  };
}

type Values = Question<unknown>['values'];
type Condition = readonly [sql: string, values: Values];

/** The WHERE of every question. The organisation and the window are in it whatever else is asked. */
function conditions(scope: Scope, filter?: RequestFilter): { sql: string; values: Values } {
  const all: Condition[] = [
    ['organization_id = {organization_id:UUID}', { organization_id: scope.organizationId }],
    ['timestamp >= fromUnixTimestamp64Micro({from_micros:Int64})', { from_micros: scope.fromMicros }],
    ['timestamp <= fromUnixTimestamp64Micro({to_micros:Int64})', { to_micros: scope.toMicros }],
    ...when(scope.projectId, (project) => ['project_id = {project_id:UUID}', { project_id: project }]),
    ...when(scope.keyId, (key) => ['key_id = {key_id:UUID}', { key_id: key }]),
    ...when(scope.model, (model) => ['model = {model:String}', { model }]),
    ...when(filter?.statusClass, (digit) => [
      'intDiv(status, 100) = {status_class:UInt8}',
      { status_class: digit },
    ]),
    ...when(filter?.terminationReason, (reason) => ['termination_reason = {reason:String}', { reason }]),
    ...when(filter?.minCostMicroPkr, (cost) => ['cost_micro_pkr >= {min_cost:Int64}', { min_cost: cost }]),
    ...when(filter?.search, contains),
  ];
  return {
    sql: all.map(([sql]) => sql).join(' AND '),
    values: Object.assign({}, ...all.map(([, values]) => values)) as Values,
  };
}

// The column holds its fields lower-cased and parted by U+0000, which no needle has; the engine lower-cases the needle
// by the same rules. One of these depends on the neighbours: a capital sigma becomes another letter at the end of a
// word, so where one is looked for, both forms count as the same.
function contains(needle: string): Condition {
  const folded = (text: string) => (/[Σσς]/.test(needle) ? `replaceAll(${text}, 'ς', 'σ')` : text);
  return [
    `position(${folded('search_text')}, ${folded('lowerUTF8({search:String})')}) > 0`,
    { search: needle },
  ];
}

function when<T>(value: T | undefined, condition: (value: T) => Condition): Condition[] {
  return value === undefined ? [] : [condition(value)];
}
