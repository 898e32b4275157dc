import { analytics } from '@gatehouse/contract';
import {
  fragment,
  int64,
  joinSql,
  rawSql,
  type TelemetryQuery,
  type TelemetrySql,
  telemetryQuery,
  text,
  uint32,
  uint64,
} from '@gatehouse/store';
import { conditions, conditionsWithoutWindow, READ_ROWS, type Scope } from '../telemetry.ts';
import { rollupWindow } from './rules.ts';

/**
 * Figures of a window: the summary, and series over time. Each is computed from sums and counts of integers. So the
 * whole hours of a window can come from the hourly rollup (the projections hourly_by_key and hourly_by_model) and only
 * both ends from the rows, and the result equals that of all rows to the last digit. Where that is not faster, and for
 * filters without a rollup, the rows are read.
 *
 * A row of rejected requests may stand for several (request_count). Requests are counted by it, and the time of such a
 * row, the mean of its requests, weighs as many times. It has no tokens, cost or first token.
 */

/** Text that stands for 64-bit integers, which JSON numbers would round. */
export interface SummaryRow {
  readonly requests_text: string;
  readonly mean_total_ms: number | null;
  readonly mean_ttft_ms: number | null;
  readonly tokens_a_second: number | null;
  readonly tokens_text: string;
  /** Micro-PKR. */
  readonly cost_text: string;
}

// No alias may be the name of a column, for the engine would then read it in the conditions too. The expressions are
// those of the projections, word for word.
export const SUMS = {
  requests: 'sum(request_count)',
  total: 'sum(total_us * request_count)',
  first_token: 'sum(ttft_us)',
  first_tokens: 'count(ttft_us)',
  generated: 'sumIf(tokens_generated, isNotNull(generation_us))',
  generating: 'sum(generation_us)',
  tokens: 'sum(total_tokens)',
  cost: 'sum(cost_micro_pkr)',
} as const;

export type Sum = keyof typeof SUMS;

// The rollup ignores request_count and counts a row as one request. What rows of several requests lack is added.
export const ROLLUP_SUMS: Readonly<Record<Sum, string>> = {
  ...SUMS,
  requests: 'count()',
  total: 'sum(total_us)',
};
export const MISSING: Readonly<Partial<Record<Sum, string>>> = {
  requests: 'toUInt64(sum(request_count) - count())',
  total: 'sum(total_us * request_count) - sum(total_us)',
};

const mean = (sum: Sum, count: Sum) => `if(${count} > 0, ${sum} / ${count} / 1000, NULL)`;
const TOKENS_A_SECOND = 'if(generating > 0, generated / generating * 1000000, NULL)';

const METRICS: Readonly<Record<analytics.Metric, { readonly of: readonly Sum[]; readonly value: string }>> = {
  volume: { of: ['requests'], value: 'requests' },
  latency: { of: ['total', 'requests'], value: mean('total', 'requests') },
  ttft: { of: ['first_token', 'first_tokens'], value: mean('first_token', 'first_tokens') },
  tok_s: { of: ['generated', 'generating'], value: TOKENS_A_SECOND },
  token_usage: { of: ['tokens'], value: 'tokens' },
};

// A request that was rejected before its model was read has the model ''. A caller may also name a model like the group
// that stands for it, so both are one group here: a page must end at a point that exists once. transform() works on the
// dictionary of the column, costs nothing, and lets the engine use the projection as it does for the column.
const GROUPS: Readonly<Record<analytics.Grouping, string>> = {
  project: 'project_id',
  key: 'key_id',
  model: `transform(model, [''], ['${analytics.UNATTRIBUTED}'])`,
};

/** `requestsPerHour`: about how many the organisation makes, if known. */
export function summary(scope: Scope, requestsPerHour?: number): TelemetryQuery<SummaryRow> {
  const { sql, settings } = sums(scope, Object.keys(SUMS) as Sum[], { requestsPerHour });
  return telemetryQuery(
    fragment`SELECT toString(requests) AS requests_text,
                    ${rawSql(mean('total', 'requests'))} AS mean_total_ms,
                    ${rawSql(mean('first_token', 'first_tokens'))} AS mean_ttft_ms,
                    ${rawSql(TOKENS_A_SECOND)} AS tokens_a_second,
                    toString(tokens) AS tokens_text,
                    toString(cost) AS cost_text
             FROM (${sql})`,
    settings,
  );
}

/** A metric over time. */
export interface Series {
  readonly metric: analytics.Metric;
  readonly grouping: analytics.Grouping;
  /** The width of a bucket. Buckets are numbered from the epoch. */
  readonly widthSeconds: number;
  /** About how many requests an hour the organisation makes, if known. */
  readonly requestsPerHour?: number | undefined;
}

/** The position of a point in a series. */
export interface PointCursor {
  /** The number of the bucket. */
  readonly bucket: bigint;
  readonly group: string;
}

/** The first points of a series in the scope, or the first after a cursor, in the form in which they are sent. */
export function points(
  scope: Scope,
  series: Series,
  { limit, after }: { readonly limit: number; readonly after: PointCursor | undefined },
): TelemetryQuery<unknown> {
  const { of, value } = METRICS[series.metric];
  const { sql, settings } = sums(scope, of, { series, requestsPerHour: series.requestsPerHour });
  const isAfter = after
    ? fragment`AND (nth, label) > (${int64('after_bucket', after.bucket)}, ${text('after_group', after.group)})`
    : rawSql('');
  return telemetryQuery(
    fragment`SELECT formatDateTime(toDateTime(nth * ${widthOf(series)}, 'UTC'), '%FT%T') AS bucket, label AS group, value
             FROM (SELECT nth, ifNull(toString(grp), ${UNATTRIBUTED}) AS label, ${rawSql(value)} AS value FROM (${sql}))
             WHERE isNotNull(value) ${isAfter}
             ORDER BY nth, label
             LIMIT ${uint64('limit', limit)}`,
    {
      ...settings,
      output_format_json_quote_64bit_integers: 0,
      output_format_json_escape_forward_slashes: 0,
    },
  );
}

/** About how many groups a series has. */
export function countGroups(scope: Scope, grouping: analytics.Grouping): TelemetryQuery<{ groups: string }> {
  return telemetryQuery(
    fragment`SELECT toString(uniqCombined(12)(${rawSql(GROUPS[grouping])})) AS groups
             FROM request_log WHERE ${conditions(scope)}`,
  );
}

/** The time of the row that follows this many others of the scope; no row where the scope has fewer. */
export function timeAfterRows(scope: Scope, rows: number): TelemetryQuery<{ micros: string }> {
  return telemetryQuery(
    fragment`SELECT toString(toUnixTimestamp64Micro(timestamp)) AS micros FROM request_log
             WHERE ${conditions(scope)} ORDER BY timestamp LIMIT 1 OFFSET ${uint64('rows', rows)}`,
    READ_ROWS,
  );
}

const UNATTRIBUTED = rawSql(`'${analytics.UNATTRIBUTED}'`);
const widthOf = ({ widthSeconds }: Series) => int64('width', BigInt(widthSeconds));
const commaSeparated = (fragments: readonly TelemetrySql[]) => joinSql(fragments, ', ');

interface Grouped {
  /** Undefined: the sums of the whole scope in one row. */
  readonly series?: Series;
  readonly requestsPerHour: number | undefined;
}

/** The sums of the scope: one row, or one for each bucket (`nth`) and group (`grp`) of a series. */
function sums(
  scope: Scope,
  wanted: readonly Sum[],
  { series, requestsPerHour }: Grouped,
): Pick<TelemetryQuery<unknown>, 'settings'> & { readonly sql: TelemetrySql } {
  const groupBy = rawSql(series ? 'GROUP BY nth, grp' : '');
  const select = (
    bucketOf: (width: ReturnType<typeof widthOf>) => TelemetrySql,
    expressionOf: (sum: Sum) => string,
  ) =>
    commaSeparated([
      ...(series
        ? [fragment`${bucketOf(widthOf(series))} AS nth`, rawSql(`${GROUPS[series.grouping]} AS grp`)]
        : []),
      ...wanted.map((sum) => rawSql(`${expressionOf(sum)} AS ${sum}`)),
    ]);
  const bucketOfRow = (width: ReturnType<typeof widthOf>) =>
    fragment`intDiv(toUnixTimestamp64Micro(timestamp), ${width} * 1000000)`;
  const ofRows = select(bucketOfRow, (sum) => SUMS[sum]);

  const hours = rollupWindow(scope, series, requestsPerHour);
  if (!hours) {
    const sql = fragment`SELECT ${ofRows} FROM request_log WHERE ${conditions(scope)} ${groupBy}`;
    return { sql, settings: READ_ROWS };
  }

  const where = conditionsWithoutWindow(scope);
  const from = fragment`fromUnixTimestamp64Micro(${int64('from_micros', scope.fromMicros)})`;
  const to = fragment`fromUnixTimestamp64Micro(${int64('to_micros', scope.toMicros)})`;
  const [fromHour, toHour] = [uint32('from_hour', hours.fromSeconds), uint32('to_hour', hours.toSeconds)];
  const firstHour = fragment`toDateTime64(${fromHour}, 6, 'UTC')`;
  const endOfHours = fragment`toDateTime64(${toHour}, 6, 'UTC')`;
  const ofEnds = fragment`SELECT ${ofRows} FROM request_log
    WHERE ${where} AND ((timestamp >= ${from} AND timestamp < ${firstHour})
      OR (timestamp >= ${endOfHours} AND timestamp <= ${to}))
    ${groupBy}`;
  const bucketOfHour = (width: ReturnType<typeof widthOf>) =>
    fragment`intDiv(toUnixTimestamp(toStartOfHour(timestamp)), ${width})`;
  const ofHours = fragment`SELECT ${select(bucketOfHour, (sum) => ROLLUP_SUMS[sum])} FROM request_log
    WHERE ${where} AND toStartOfHour(timestamp) >= toDateTime(${fromHour}, 'UTC')
      AND toStartOfHour(timestamp) < toDateTime(${toHour}, 'UTC')
    ${groupBy}`;
  const missing = fragment`SELECT ${select(bucketOfRow, (sum) => MISSING[sum] ?? '0')} FROM request_log
    WHERE ${where} AND request_count > 1 AND timestamp >= ${firstHour} AND timestamp < ${endOfHours}
    ${groupBy}`;
  const parts = wanted.some((sum) => sum in MISSING) ? [ofEnds, ofHours, missing] : [ofEnds, ofHours];
  const total = commaSeparated([
    ...(series ? [rawSql('nth'), rawSql('grp')] : []),
    ...wanted.map((sum) => rawSql(`sum(part.${sum}) AS ${sum}`)),
  ]);
  return {
    sql: fragment`SELECT ${total} FROM (${joinSql(parts, ' UNION ALL ')}) AS part ${groupBy}`,
    settings: {},
  };
}
