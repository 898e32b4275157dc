import type { analytics, KeyId } from '@gatehouse/contract';
import {
  fragment,
  rawSql,
  type TelemetryQuery,
  type TelemetrySql,
  telemetryQuery,
  uint32,
} from '@gatehouse/store';
import {
  conditions,
  conditionsWithoutWindow,
  ERROR_CODE,
  IS_ERROR,
  metadataValue,
  READ_ROWS,
  type RequestFilter,
  type Scope,
} from '../telemetry.ts';
import { MAX_GROUPS_AT_ONCE } from './rules.ts';

/*
 * Figures by one property of the requests, with quantiles of their times. Quantiles cannot be added up, so these queries read
 * the rows. A rollup with states of quantiles does not pay: by the hour it has about as many as there are requests of a key, model
 * and status; by the day they are as large as the durations of the rows, and merged at every insert.
 *
 * A time is rounded to nine significant bits, which is within 0.2 %, and the engine counts how often each occurs. So a
 * group's times take at most some thousand numbers, however many requests it has, and the result does not depend on the order
 * of rows. The bits of a positive float are in the order of the floats, so the engine compares integers.
 *
 * The number of groups is the callers' choice, where it is a model's name or metadata. `breakdown` keeps the figures of every
 * group and gives up early when there are more than MAX_GROUPS_AT_ONCE. `breakdownOfMany` first counts the requests of each
 * group, which takes little memory, and keeps figures of those that are listed and of the rest.
 */

/** The figures of one group, of the groups that are not listed, or of all. 64-bit integers are texts. */
export type FoundGroup = readonly [
  /** 0 for all; from 1 on for those that are listed; the one after `limit` stands for the rest. */
  place: number,
  label: string | null,
  groups: string,
  requests: string,
  errors: string,
  tokens: string,
  costMicroPkr: string,
  firstTokens: string,
  /** The quantiles of QUANTILES, as the bits of 32-bit floats of microseconds. */
  totalTimes: readonly number[],
  firstTokenTimes: readonly number[],
];

interface Found {
  readonly found: readonly FoundGroup[];
}

/** The grouping of a query. Of environments and members, the keys of each. */
export type Groups =
  | Exclude<analytics.BreakdownGrouping, { readonly by: KeyProperty }>
  | { readonly by: KeyProperty; readonly keys: KeysByLabel };

/** The groupings by a property of keys, which the request log does not have. */
export type KeyProperty = 'environment' | 'member';
export type KeysByLabel = ReadonlyMap<string, readonly KeyId[]>;

const QUANTILES = '0.5, 0.95';

const rounded = (micros: string) => `bitAnd(reinterpretAsUInt32(toFloat32(${micros})) + 16384, 4294934528)`;
/** The counters of a column of times. Nulls are left out by a condition: a third less time than the engine's own way. */
export const times = (column: 'total_us' | 'ttft_us') =>
  column === 'total_us'
    ? `quantilesExactWeightedState(${QUANTILES})(${rounded(column)}, request_count)`
    : `quantilesExactWeightedStateIf(${QUANTILES})(${rounded(`assumeNotNull(${column})`)}, request_count, isNotNull(${column}))`;
/** The quantiles of all states, or of those that meet a condition. */
export const merged = (state: string, condition?: string) =>
  condition
    ? `quantilesExactWeightedMergeIf(${QUANTILES})(${state}, ${condition})`
    : `quantilesExactWeightedMerge(${QUANTILES})(${state})`;
/** Their state, to be merged again. */
export const mergedState = (state: string) => `quantilesExactWeightedMergeState(${QUANTILES})(${state})`;

const FIGURES = rawSql(`sum(request_count) AS requests, sumIf(request_count, ${IS_ERROR}) AS errors,
  sum(total_tokens) AS tokens, sum(cost_micro_pkr) AS cost, count(ttft_us) AS firsts,
  ${times('total_us')} AS total_times, ${times('ttft_us')} AS first_times`);

/** One row, also without requests. Incomplete where it has more than MAX_GROUPS_AT_ONCE groups. */
export function breakdown(
  scope: Scope,
  filter: RequestFilter,
  groups: Groups,
  limit: number,
): TelemetryQuery<Found> {
  const parts = fragment`
    SELECT least(row_number() OVER (ORDER BY requests DESC, label), ${uint32('rest', limit + 1)}) AS place,
           toString(grp) AS label, 1 AS members, requests, errors, tokens, cost, firsts, total_times, first_times
    FROM (SELECT ${groupOf(groups)} AS grp, ${FIGURES} FROM request_log
          WHERE ${conditions(scope, filter)} GROUP BY grp)`;
  return foundIn(parts, limit, {
    max_rows_to_group_by: MAX_GROUPS_AT_ONCE,
    // Ends the query soon, with the groups so far.
    group_by_overflow_mode: 'break',
  });
}

/** The same for any number of groups. Reads the rows twice. */
export function breakdownOfMany(
  scope: Scope,
  filter: RequestFilter,
  groups: Groups,
  limit: number,
): TelemetryQuery<Found> {
  const label = fragment`toString(${groupOf(groups)})`;
  const where = conditions(scope, filter);
  const size = rawSql(String(Math.trunc(limit)));
  const parts = fragment`
    WITH (SELECT (count(), groupArraySorted(${size})((-toInt64(many), named)))
          FROM (SELECT ${label} AS named, sum(request_count) AS many FROM request_log WHERE ${where} GROUP BY named)) AS ranked,
         arrayMap(one -> one.2, ranked.2) AS listed
    SELECT toUInt64(transform(${label}, listed, arrayEnumerate(listed), ${size} + 1)) AS place,
           if(place > ${size}, '', listed[place]) AS label,
           if(place > ${size}, ranked.1 - ${size}, 1) AS members, ${FIGURES}
    FROM request_log WHERE ${where} GROUP BY place`;
  return foundIn(parts, limit, {});
}

function foundIn(
  parts: TelemetrySql,
  limit: number,
  settings: Readonly<Record<string, string | number>>,
): TelemetryQuery<Found> {
  return telemetryQuery(
    fragment`SELECT groupArray((position, name, count_text, requests_text, errors_text, tokens_text, cost_text, firsts_text,
                                total_bits, first_bits)) AS found
             FROM (
               SELECT toUInt32(place) AS position,
                      if(place IN (0, ${uint32('rest', limit + 1)}), NULL, nullIf(any(label), '')) AS name,
                      toString(sum(members)) AS count_text,
                      toString(sum(requests)) AS requests_text,
                      toString(sum(errors)) AS errors_text,
                      toString(sum(tokens)) AS tokens_text,
                      toString(sum(cost)) AS cost_text,
                      toString(sum(firsts)) AS firsts_text,
                      ${rawSql(merged('total_times'))} AS total_bits,
                      ${rawSql(merged('first_times'))} AS first_bits
               FROM (${parts})
               GROUP BY place WITH ROLLUP
               ORDER BY position
             )`,
    { ...READ_ROWS, ...settings, max_query_size: MAX_QUERY_BYTES },
  );
}

/** Room for the ids of MAX_KEYS keys of as many members, as often as a query of any report has them. */
export const MAX_QUERY_BYTES = 8_000_000;
/** More keys than this are not sorted into environments or members. */
export const MAX_KEYS = 20_000;

/** The value of a row by which it is grouped; empty if it has none. The hourly rollup has ids only. */
export function groupOf(groups: Groups, isOfRollup = false): TelemetrySql {
  switch (groups.by) {
    case 'status':
    case 'model':
    case 'termination_reason':
      return rawSql(groups.by);
    case 'error_code':
      return rawSql(ERROR_CODE);
    case 'key':
    case 'project':
      return rawSql(isOfRollup ? `ifNull(toString(${groups.by}_id), '')` : `${groups.by}_text`);
    case 'metadata':
      return metadataValue(groups.name);
    case 'environment':
    case 'member':
      return labelOfKey(groups.keys, 'key_text');
  }
}

/**
 * The label of a row's key, by the text of its id; empty for a key that is in none. The labels and ids come from PostgreSQL or the contract.
 * Each id stands once and each label once, however many keys it has.
 */
export function labelOfKey(keys: KeysByLabel, idText: string): TelemetrySql {
  const quoted = (texts: readonly string[]) => texts.map((text) => `'${text}'`).join(',');
  const ids = [...keys.values()].flat();
  if (ids.length === 0) return rawSql(`''`);
  const places = [...keys.values()].flatMap((own, index) => own.map(() => index + 2));
  return rawSql(
    `['',${quoted([...keys.keys()])}][transform(${idText}, [${quoted(ids)}], [${places.join(',')}]::Array(UInt32), toUInt32(1))]`,
  );
}

const HOUR_MICROS = 3_600_000_000n;

/**
 * The keys that made requests in the hours of the scope, MAX_KEYS and one at most. The hourly rollup answers it; it may have
 * keys that made none in the scope itself.
 */
export function listUsedKeys(scope: Scope): TelemetryQuery<{ used: readonly string[] }> {
  const hourOf = (micros: bigint) => Number((micros / HOUR_MICROS) * 3_600n);
  const hour = (name: string, micros: bigint) => fragment`toDateTime(${uint32(name, hourOf(micros))}, 'UTC')`;
  return telemetryQuery(
    fragment`SELECT groupArray(${rawSql(String(MAX_KEYS + 1))})(toString(used_key)) AS used
             FROM (SELECT key_id AS used_key FROM request_log
                   WHERE ${conditionsWithoutWindow({ ...scope, model: undefined })} AND isNotNull(key_id)
                     AND toStartOfHour(timestamp) >= ${hour('from_hour', scope.fromMicros)}
                     AND toStartOfHour(timestamp) <= ${hour('to_hour', scope.toMicros)}
                   GROUP BY used_key)`,
  );
}
