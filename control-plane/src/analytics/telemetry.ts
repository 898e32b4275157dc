import { requestLogSelect, type StoredRequest } from '@gatehouse/store';
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

/** A row of the request log. No alias in a query may be the name of a column: the engine would use it in the conditions too. */
export type RequestRow = StoredRequest;

/**
 * For questions that no projection answers: the engine would consider them all the same, find none that fits, and have
 * lost a little time.
 */
export const READ_ROWS = { optimize_use_projections: 0 };

/** Where a row stands in the request log of an organisation. */
export interface RequestPlace {
  readonly micros: bigint;
  readonly requestId: string;
}

/** How many rows there are, or how many that come after one of them. */
export function countRequests(
  scope: Scope,
  filter: RequestFilter,
  after?: RequestPlace,
): Question<{ matching: string }> {
  const { sql, values } = conditionsAfter(scope, filter, after);
  return { sql: `SELECT toString(count()) AS matching FROM request_log WHERE ${sql}`, values };
}

export interface Found {
  readonly matching: string;
  /** Microseconds since the epoch; text as everywhere. */
  readonly times: readonly string[];
}

/** How many there are, and when the newest of them were, `most` at most: with one look at each row. */
export function findRequests(scope: Scope, filter: RequestFilter, most: number): Question<Found> {
  const { sql, values } = conditions(scope, filter);
  return {
    sql: `SELECT toString(count()) AS matching,
                 arrayMap(age -> toString(-age),
                          groupArraySorted(${Math.trunc(most)})(-toUnixTimestamp64Micro(timestamp))) AS times
          FROM request_log WHERE ${sql}`,
    values,
    settings: READ_ROWS,
  };
}

// Newest first, and among equals the id decides, downwards too: the order in which the table lies, read backwards. So
// the engine stops at the end of the page; with the ids upwards it would sort the whole window (five times as long
// for two million rows).
const NEWEST_FIRST = 'ORDER BY timestamp DESC, request_id DESC';
const OLDEST_FIRST = 'ORDER BY timestamp, request_id';

export interface RequestPage {
  readonly limit: number;
  readonly offset: number;
  /** Counts and lists from the other end. */
  readonly isOldestFirst?: boolean;
}

export function listRequests(scope: Scope, filter: RequestFilter, page: RequestPage): Question<RequestRow> {
  const { limit, offset, isOldestFirst = false } = page;
  const { sql, values } = conditions(scope, filter);
  return {
    sql: `${ROWS} WHERE ${sql} ${isOldestFirst ? OLDEST_FIRST : NEWEST_FIRST}
          LIMIT {limit:UInt64} OFFSET {offset:UInt64}`,
    values: { ...values, limit, offset },
  };
}

/** Those of certain instants, which are in microseconds and newest first. Little else is read. */
export function listRequestsOf(
  scope: Scope,
  filter: RequestFilter,
  times: readonly bigint[],
  { limit, offset }: Omit<RequestPage, 'isOldestFirst'>,
): Question<RequestRow> {
  const { sql, values } = conditions(scope, filter);
  const instants = [...new Set(times)].map((micros) => `fromUnixTimestamp64Micro(${micros})`);
  return {
    sql: `${ROWS} WHERE ${sql} AND timestamp IN (${instants.join(', ')})
          ${NEWEST_FIRST} LIMIT {limit:UInt64} OFFSET {offset:UInt64}`,
    values: { ...values, limit, offset },
  };
}

/** The newest, or those that come after one of them: the same ones however many have come meanwhile. */
export function listRequestsAfter(
  scope: Scope,
  filter: RequestFilter,
  after: RequestPlace | undefined,
  limit: number,
): Question<RequestRow> {
  const { sql, values } = conditionsAfter(scope, filter, after);
  return { sql: `${ROWS} WHERE ${sql} ${NEWEST_FIRST} LIMIT {limit:UInt64}`, values: { ...values, limit } };
}

const ROWS = `SELECT ${requestLogSelect} FROM request_log`;

export type Values = Question<unknown>['values'];
type Condition = readonly [sql: string, values: Values];

/** The WHERE of every question. The organisation and the window are in it whatever else is asked. */
export function conditions(scope: Scope, filter?: RequestFilter): { sql: string; values: Values } {
  return joined([
    ['timestamp >= fromUnixTimestamp64Micro({from_micros:Int64})', { from_micros: scope.fromMicros }],
    ['timestamp <= fromUnixTimestamp64Micro({to_micros:Int64})', { to_micros: scope.toMicros }],
    ...parts(scope),
    ...filters(filter),
  ]);
}

// The time is said twice: by the end of the window the engine knows what it need not read, from pairs it learns nothing.
function conditionsAfter(scope: Scope, filter: RequestFilter, after: RequestPlace | undefined) {
  if (!after) return conditions(scope, filter);
  const { sql, values } = conditions({ ...scope, toMicros: after.micros }, filter);
  return {
    sql: `${sql} AND (timestamp, request_id) < (fromUnixTimestamp64Micro({to_micros:Int64}), {after_id:String})`,
    values: { ...values, after_id: after.requestId },
  };
}

/** The WHERE of a question that says itself which time it is about. */
export function conditionsWithoutWindow(scope: Scope): { sql: string; values: Values } {
  return joined(parts(scope));
}

function parts(scope: Scope): Condition[] {
  return [
    ['organization_id = {organization_id:UUID}', { organization_id: scope.organizationId }],
    ...when(scope.projectId, (project) => ['project_id = {project_id:UUID}', { project_id: project }]),
    ...when(scope.keyId, (key) => ['key_id = {key_id:UUID}', { key_id: key }]),
    ...when(scope.model, (model) => ['model = {model:String}', { model }]),
  ];
}

function filters(filter: RequestFilter | undefined): Condition[] {
  return [
    ...when(filter?.statusClass, (digit) => [
      'intDiv(status, 100) = {status_class:UInt8}',
      { status_class: digit },
    ]),
    ...when(filter?.terminationReason, (reason) => ['termination_reason = {reason:String}', { reason }]),
    ...when(filter?.minCostMicroPkr, (cost) => ['cost_micro_pkr >= {min_cost:Int64}', { min_cost: cost }]),
    ...when(filter?.search, contains),
  ];
}

function joined(all: readonly Condition[]): { sql: string; values: Values } {
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
