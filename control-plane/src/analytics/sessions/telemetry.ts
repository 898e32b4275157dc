import { type analytics, MAX_SESSION_MODELS } from '@gatehouse/contract';
import {
  fragment,
  joinSql,
  rawSql,
  type TelemetryQuery,
  type TelemetrySql,
  telemetryQuery,
  textLiteral,
} from '@gatehouse/store';
import { MAX_QUERY_BYTES } from '../breakdown/telemetry.ts';
import { conditions, containsText, IS_ERROR, metadataValue, READ_ROWS, type Scope } from '../telemetry.ts';

/*
 * Sessions are the values of the metadata under one name. How many there are is the callers' choice: a value may be new in every
 * request. So two queries: the first groups by value, keeps what they are sorted by, and returns their number and those of the
 * page; it spills to disk where they are too many for memory. The second reads the figures of the page, and only the time in
 * which its sessions were active.
 */

export interface SessionsQuery {
  readonly scope: Scope;
  readonly metadata: string;
  readonly search: string | undefined;
  readonly sort: analytics.SessionOrder;
  readonly limit: number;
  readonly offset: number;
}

/** The sessions of a page in their order, and the number of all. Times are microseconds since the epoch, as text. */
export interface FoundSessions {
  readonly matching: string;
  readonly sessions: readonly string[];
  readonly firsts: readonly string[];
  readonly lasts: readonly string[];
}

const END = 'toUnixTimestamp64Micro(timestamp) + total_us';

const SORTS: Readonly<Record<analytics.SessionOrder, string>> = {
  last_request: 'max(toUnixTimestamp64Micro(timestamp))',
  requests: 'toInt64(sum(request_count))',
  cost: 'sum(cost_micro_pkr)',
  duration: `max(${END}) - min(toUnixTimestamp64Micro(timestamp))`,
};

/** One row, also without sessions. */
export function findSessions(query: SessionsQuery): TelemetryQuery<FoundSessions> {
  const { scope, metadata, search, sort, limit, offset } = query;
  const found = search === undefined ? rawSql('1') : containsText(rawSql('lowerUTF8(named)'), search);
  return telemetryQuery(
    fragment`WITH groupArraySorted(${rawSql(String(Math.trunc(offset + limit)))})((-rank, -last, named, first)) AS sorted,
                  arraySlice(sorted, ${rawSql(String(Math.trunc(offset) + 1))}, ${rawSql(String(Math.trunc(limit)))}) AS page
             SELECT toString(count()) AS matching,
                    arrayMap(one -> one.3, page) AS sessions,
                    arrayMap(one -> toString(one.4), page) AS firsts,
                    arrayMap(one -> toString(-one.2), page) AS lasts
             FROM (
               SELECT ${metadataValue(metadata)} AS named, ${rawSql(SORTS[sort])} AS rank,
                      max(toUnixTimestamp64Micro(timestamp)) AS last, min(toUnixTimestamp64Micro(timestamp)) AS first
               FROM request_log WHERE ${conditions(scope)} AND named != '' AND ${found}
               GROUP BY named
             )`,
    { ...READ_ROWS, max_query_size: MAX_QUERY_BYTES },
  );
}

/** 64-bit integers are texts. Times are microseconds since the epoch. */
export type SessionRow = readonly [
  named: string,
  requests: string,
  errors: string,
  tokens: string,
  costMicroPkr: string,
  firstMicros: string,
  lastMicros: string,
  /** From the first request to the end of the last answer. */
  tookMicros: string,
  models: readonly string[],
];

/** One row with the figures of sessions, in any order. The scope is narrowed to the time in which they were active. */
export function listSessionRows(
  scope: Scope,
  metadata: string,
  sessions: readonly string[],
): TelemetryQuery<{ found: readonly SessionRow[] }> {
  const values: TelemetrySql = joinSql(sessions.map(textLiteral), ', ');
  const size = rawSql(String(MAX_SESSION_MODELS));
  return telemetryQuery(
    fragment`SELECT groupArray(one) AS found FROM (
             SELECT tuple(named, toString(sum(many)), toString(sum(failed)), toString(sum(used)), toString(sum(cost)),
                          toString(min(first)), toString(max(last)), toString(max(end) - min(first)),
                          arrayMap(most -> most.2, groupArraySorted(${size})((-toInt64(many), route)))) AS one
             FROM (
               SELECT ${metadataValue(metadata)} AS named, toString(model) AS route, sum(request_count) AS many,
                      sumIf(request_count, ${rawSql(IS_ERROR)}) AS failed, sum(total_tokens) AS used,
                      sum(cost_micro_pkr) AS cost, min(toUnixTimestamp64Micro(timestamp)) AS first,
                      max(toUnixTimestamp64Micro(timestamp)) AS last, max(${rawSql(END)}) AS end
               FROM request_log WHERE ${conditions(scope)} AND named IN (${values})
               GROUP BY named, route
             )
             GROUP BY named)`,
    { ...READ_ROWS, max_query_size: MAX_QUERY_BYTES },
  );
}
