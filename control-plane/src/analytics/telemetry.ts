import { analytics, type OrganizationId } from '@gatehouse/contract';
import {
  fragment,
  int64,
  joinSql,
  rawSql,
  requestLogSelect,
  type StoredRequest,
  type TelemetryQuery,
  type TelemetrySql,
  telemetryQuery,
  text,
  textLiteral,
  uint8,
  uint64,
  uuid,
} from '@gatehouse/store';
import type { Owned } from '../keys/index.ts';
import type { RequestTime } from './request-time.ts';

/** The requests that a query reads: always of one organisation and one window, narrowed by up to three ids, or to some keys. */
export interface Scope {
  readonly organizationId: OrganizationId;
  /** Both ends belong to the window; microseconds since the epoch. */
  readonly fromMicros: bigint;
  readonly toMicros: bigint;
  readonly projectId: Owned<'project'> | undefined;
  readonly keyId: Owned<'key'> | undefined;
  /** Undefined: of any key. */
  readonly keyIds?: readonly Owned<'key'>[] | undefined;
  readonly model: string | undefined;
}

/** Conditions on a row beyond the scope. */
export interface RequestFilter {
  /** The first digit of the status. */
  readonly statusClass: number | undefined;
  readonly terminationReason: string | undefined;
  readonly minCostMicroPkr: bigint | undefined;
  readonly search: string | undefined;
  /** A code, or ANY_ERROR. */
  readonly errorCode: string | undefined;
}

// The gateway's code where it has one. Of what it passed on, the class of the failure.
export const ERROR_CODE = `multiIf(
  refusal != '', refusal,
  termination_reason = 'proxy_guillotine', 'upstream_timeout',
  termination_reason = 'upstream_stream_aborted', 'upstream_stream_aborted',
  termination_reason = 'client_disconnect', '',
  status >= 400, concat('upstream_', toString(status)),
  isNotNull(upstream_error), 'upstream_error',
  '')`;
// Whether that is not empty, without making texts.
export const IS_ERROR = `(refusal != '' OR (termination_reason != 'client_disconnect'
  AND (termination_reason != 'success' OR status >= 400 OR isNotNull(upstream_error))))`;

/** A row of the request log. No alias in a query may be the name of a column: the engine would use it in the conditions too. */
export type RequestRow = StoredRequest;

/**
 * For queries that no projection answers. The engine would otherwise examine them all, find none that fits, and lose a
 * little time.
 */
export const READ_ROWS = { optimize_use_projections: 0 };

/** The position of a row in the request log of an organisation. */
export interface RequestCursor {
  readonly micros: bigint;
  readonly requestId: string;
}

/** The number of rows, or of those that come after a cursor. */
export function countRequests(
  scope: Scope,
  filter: RequestFilter,
  after?: RequestCursor,
): TelemetryQuery<{ matching: string }> {
  const where = conditionsAfter(scope, filter, after);
  return telemetryQuery(fragment`SELECT toString(count()) AS matching FROM request_log WHERE ${where}`);
}

export interface FoundRequests {
  readonly matching: string;
  /** Microseconds since the epoch, as text. */
  readonly times: readonly string[];
}

/** The number of rows and the times of the newest, `limit` at most, in one pass over the rows. */
export function findRequests(
  scope: Scope,
  filter: RequestFilter,
  limit: number,
): TelemetryQuery<FoundRequests> {
  return telemetryQuery(
    fragment`SELECT toString(count()) AS matching,
                    arrayMap(age -> toString(-age),
                             groupArraySorted(${rawSql(String(Math.trunc(limit)))})(-toUnixTimestamp64Micro(timestamp)))
                      AS times
             FROM request_log WHERE ${conditions(scope, filter)}`,
    READ_ROWS,
  );
}

// Newest first; among rows of one instant the larger id. That is the sort order of the table, read backwards, so the
// engine stops at the end of the page. With ascending ids it would sort the whole window: five times as long for two
// million rows.
const NEWEST_FIRST = rawSql('ORDER BY timestamp DESC, request_id DESC');
const OLDEST_FIRST = rawSql('ORDER BY timestamp, request_id');

export interface PageOfRequests {
  readonly limit: number;
  readonly offset: number;
  /** Counts and lists from the other end. */
  readonly isOldestFirst?: boolean;
}

export function listRequests(
  scope: Scope,
  filter: RequestFilter,
  page: PageOfRequests,
): TelemetryQuery<RequestRow> {
  return telemetryQuery(
    fragment`${ROWS} WHERE ${conditions(scope, filter)} ${page.isOldestFirst ? OLDEST_FIRST : NEWEST_FIRST}
             LIMIT ${uint64('limit', page.limit)} OFFSET ${uint64('offset', page.offset)}`,
  );
}

/** The rows at certain instants, in microseconds, newest first. Little else is read. */
export function listRequestsAt(
  scope: Scope,
  filter: RequestFilter,
  times: readonly bigint[],
  { limit, offset }: Omit<PageOfRequests, 'isOldestFirst'>,
): TelemetryQuery<RequestRow> {
  const instants = [...new Set(times)].map((micros) => rawSql(`fromUnixTimestamp64Micro(${micros})`));
  return telemetryQuery(
    fragment`${ROWS} WHERE ${conditions(scope, filter)} AND timestamp IN (${joinSql(instants, ', ')})
             ${NEWEST_FIRST} LIMIT ${uint64('limit', limit)} OFFSET ${uint64('offset', offset)}`,
  );
}

/** The newest rows, or those after a cursor: the same rows however many have arrived since. */
export function listRequestsAfter(
  scope: Scope,
  filter: RequestFilter,
  after: RequestCursor | undefined,
  limit: number,
): TelemetryQuery<RequestRow> {
  const where = conditionsAfter(scope, filter, after);
  return telemetryQuery(fragment`${ROWS} WHERE ${where} ${NEWEST_FIRST} LIMIT ${uint64('limit', limit)}`);
}

/** A row with what the list leaves out. */
export interface DetailedRequestRow extends RequestRow {
  /** As the store has them. */
  readonly attempts: string;
}

/** The row of a request, near the time that its id has. The engine reads what lies in that time, and nothing else. */
export function findRequest(
  organizationId: OrganizationId,
  { requestId, ms }: RequestTime,
  spanMs: number,
): TelemetryQuery<DetailedRequestRow> {
  const micros = (at: number) => BigInt(Math.max(at, 0)) * 1_000n;
  const scope: Scope = {
    organizationId,
    fromMicros: micros(ms - spanMs),
    toMicros: micros(ms + spanMs),
    projectId: undefined,
    keyId: undefined,
    model: undefined,
  };
  return telemetryQuery(
    fragment`SELECT ${rawSql(requestLogSelect)}, attempts FROM request_log
             WHERE ${conditions(scope)} AND request_id = ${text('request_id', requestId)} LIMIT 1`,
    READ_ROWS,
  );
}

const ROWS = rawSql(`SELECT ${requestLogSelect} FROM request_log`);

/** The WHERE of a query. The organisation and the window are always in it. */
export function conditions(scope: Scope, filter?: RequestFilter): TelemetrySql {
  return joinSql(
    [
      fragment`timestamp >= fromUnixTimestamp64Micro(${int64('from_micros', scope.fromMicros)})`,
      fragment`timestamp <= fromUnixTimestamp64Micro(${int64('to_micros', scope.toMicros)})`,
      conditionsWithoutWindow(scope),
      ...filterConditions(filter),
    ],
    ' AND ',
  );
}

// The time is compared twice: the end of the window tells the engine what it need not read, a pair does not.
function conditionsAfter(
  scope: Scope,
  filter: RequestFilter,
  after: RequestCursor | undefined,
): TelemetrySql {
  if (!after) return conditions(scope, filter);
  const { micros, requestId } = after;
  return fragment`${conditions({ ...scope, toMicros: micros }, filter)} AND (timestamp, request_id)
    < (fromUnixTimestamp64Micro(${int64('to_micros', micros)}), ${text('after_id', requestId)})`;
}

/** The WHERE of a query that states its times itself. */
export function conditionsWithoutWindow(scope: Scope): TelemetrySql {
  return joinSql(
    [
      fragment`organization_id = ${uuid('organization_id', scope.organizationId)}`,
      ...when(scope.projectId, (project) => fragment`project_id = ${uuid('project_id', project)}`),
      ...when(scope.keyId, (key) => fragment`key_id = ${uuid('key_id', key)}`),
      ...when(scope.keyIds, isOneOf),
      ...when(scope.model, (model) => fragment`model = ${text('model', model)}`),
    ],
    ' AND ',
  );
}

function isOneOf(keys: readonly Owned<'key'>[]): TelemetrySql {
  return keys.length === 0 ? rawSql('0') : fragment`key_id IN (${joinSql(keys.map(textLiteral), ', ')})`;
}

function filterConditions(filter: RequestFilter | undefined): TelemetrySql[] {
  return [
    ...when(filter?.statusClass, (digit) => fragment`intDiv(status, 100) = ${uint8('status_class', digit)}`),
    ...when(filter?.terminationReason, (reason) => fragment`termination_reason = ${text('reason', reason)}`),
    ...when(filter?.minCostMicroPkr, (cost) => fragment`cost_micro_pkr >= ${int64('min_cost', cost)}`),
    ...when(filter?.errorCode, hasErrorCode),
    ...when(filter?.search, contains),
  ];
}

function hasErrorCode(code: string): TelemetrySql {
  if (code === analytics.ANY_ERROR) return rawSql(IS_ERROR);
  return fragment`${rawSql(IS_ERROR)} AND ${rawSql(ERROR_CODE)} = ${text('error_code', code)}`;
}

// The column holds its fields in lower case, separated by U+0000, which no searched text has; the engine lower-cases the
// text by the same rules. One of these depends on context: a capital sigma becomes another letter at the end of a word,
// so in a search for it both forms count as the same.
function contains(needle: string): TelemetrySql {
  return containsText(rawSql('search_text'), needle);
}

/** True if a text in lower case contains the needle, regardless of the needle's case. */
export function containsText(lowered: TelemetrySql, needle: string): TelemetrySql {
  const lower = fragment`lowerUTF8(${text('search', needle)})`;
  return /[Σσς]/.test(needle)
    ? fragment`position(replaceAll(${lowered}, 'ς', 'σ'), replaceAll(${lower}, 'ς', 'σ')) > 0`
    : fragment`position(${lowered}, ${lower}) > 0`;
}

/** The value of the metadata under a name in lower case; empty where there is none. Sessions of coding agents have a column. */
export function metadataValue(name: string): TelemetrySql {
  return name === SESSION_NAME ? rawSql('session_id') : fragment`metadata[${text('metadata_name', name)}]`;
}

const SESSION_NAME = 'session-id';

function when<T>(value: T | undefined, condition: (value: T) => TelemetrySql): TelemetrySql[] {
  return value === undefined ? [] : [condition(value)];
}
