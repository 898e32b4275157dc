import type { analytics } from '@gatehouse/contract';
import {
  fragment,
  joinSql,
  rawSql,
  type TelemetryQuery,
  type TelemetrySql,
  telemetryQuery,
  textLiteral,
} from '@gatehouse/store';
import { type Groups, groupOf, MAX_QUERY_BYTES, times } from '../breakdown/telemetry.ts';
import { rollupConditions } from '../figures/rollup/telemetry.ts';
import { type Hours, rollupWindow } from '../figures/rules.ts';
import { MISSING, ROLLUP_SUMS, SUMS } from '../figures/telemetry.ts';
import { splitHours } from '../spend/rules.ts';
import { conditions, IS_ERROR, READ_ROWS, type RequestFilter, type Scope } from '../telemetry.ts';
import { seriesOfAll, seriesOfGroups } from './cells/telemetry.ts';

/*
 * Figures over time. Two queries for a trend with groups: the first ranks the groups by their requests, the second keeps
 * figures of those that are listed and of the rest, so memory does not depend on how many groups there are.
 *
 * Sums are of integers. So the whole hours that lie in one bucket come from the hourly rollup where it has what the query
 * filters and groups by, and the result is that of all rows (figures/telemetry.ts). Quantiles come from the rows
 * (breakdown/telemetry.ts).
 */

const TREND_SUMS = {
  ...SUMS,
  entries: 'count()',
  failed: `sumIf(request_count, ${IS_ERROR})`,
} as const;

export type TrendSum = keyof typeof TREND_SUMS;

/** The requests of a trend. */
export interface TrendPart {
  readonly scope: Scope;
  readonly filter: RequestFilter;
  /** About how many requests an hour the organisation makes, if known. */
  readonly requestsPerHour: number | undefined;
}

/** Groups, the most requests first. */
export interface RankedGroups {
  readonly by: Groups;
  /** Empty for requests without a group. */
  readonly labels: readonly string[];
}

export interface TrendQuery {
  /** The starts of the buckets, in seconds since the epoch, ascending. */
  readonly starts: readonly number[];
  /** Undefined: only the total. */
  readonly groups: RankedGroups | undefined;
  readonly sums: readonly TrendSum[];
  readonly quantiles: readonly ('total_ms' | 'ttft_ms')[];
}

/**
 * The cells of all (place 0), of one group (from 1, by rank) or of the groups that are not listed (the place after the last).
 * A cell is at the start of its bucket plus 1, or at 0 for the whole window. Sums of costs are texts, and quantiles lists of bits.
 */
export type TrendSeries = Partial<Readonly<Record<TrendSum, readonly (number | string)[]>>> & {
  readonly place: number;
  readonly cells: readonly number[];
  readonly total_ms?: readonly (readonly number[])[];
  readonly ttft_ms?: readonly (readonly number[])[];
};

/** The same as the engine returns it: place, cells, and the lists of the query's sums and quantiles in their order. */
export type FoundSeries = readonly [
  place: number,
  cells: readonly number[],
  ...values: (readonly unknown[])[],
];

/** The groups with the most requests, `limit` at most, and how many there are. One row. */
export function rankGroups(
  part: TrendPart,
  groups: Groups,
  limit: number,
): TelemetryQuery<{ members: string; labels: readonly string[] }> {
  const { sql, settings } = sumsOf(part, {
    columns: (_, isOfRollup) => [fragment`${groupOf(groups, isOfRollup)} AS grp`],
    keys: ['grp'],
    grouping: groups.by,
    starts: [],
    sums: ['requests'],
    quantiles: [],
  });
  const size = rawSql(String(Math.trunc(limit)));
  return telemetryQuery(
    fragment`SELECT toString(count()) AS members,
                    arrayMap(one -> one.2, groupArraySorted(${size})((-toInt64(many), label))) AS labels
             FROM (SELECT toString(grp) AS label, requests AS many FROM (${sql}))`,
    { ...settings, max_query_size: MAX_QUERY_BYTES },
  );
}

/** One row, also without requests: an answer without a row is a lost one. */
export function trend(part: TrendPart, query: TrendQuery): TelemetryQuery<{ found: readonly FoundSeries[] }> {
  const { starts, groups, sums, quantiles } = query;
  const nth = (at: string) => rawSql(`${startOf(starts, `toUnixTimestamp(${at})`)} AS nth`);
  const { sql, settings } = sumsOf(part, {
    columns: (at, isOfRollup) => [
      nth(at),
      ...(groups ? [fragment`${placeOf(groups, isOfRollup)} AS place`] : []),
    ],
    keys: groups ? ['nth', 'place'] : ['nth'],
    grouping: groups?.by.by,
    starts,
    sums,
    quantiles,
  });
  return telemetryQuery(groups ? seriesOfGroups(sql, sums, quantiles) : seriesOfAll(sql, sums, quantiles), {
    ...settings,
    max_query_size: MAX_QUERY_BYTES,
    output_format_json_quote_64bit_integers: 0,
  });
}

/** The series of a query, with the names of what was found. */
export function namedSeries(
  { sums, quantiles }: Pick<TrendQuery, 'sums' | 'quantiles'>,
  found: readonly FoundSeries[],
): TrendSeries[] {
  const names = [...sums, ...quantiles];
  return found.map(([place, cells, ...values]) => ({
    place,
    cells,
    ...Object.fromEntries(names.map((name, nth) => [name, values[nth]])),
  }));
}

/** One more than the start of the bucket of a time, in seconds since the epoch. Where all are equally wide, a division finds it in a fourth of the time. */
function startOf(starts: readonly number[], seconds: string): string {
  const [first = 0, second = first] = starts.map(Math.trunc);
  const width = second - first;
  const isEven = starts.every((start, nth) => Math.trunc(start) === first + nth * width);
  // A bucket of many years may begin before 1970.
  if (isEven && width > 0 && first >= 0)
    return `toUInt32(${first + 1} + intDiv(toUInt32(${seconds} - ${first}), ${width}) * ${width})`;
  return `roundDown(toInt64(${seconds}), [${starts.map(Math.trunc).join(',')}]::Array(Int64)) + 1`;
}

/** The time of the rollup. */
const HOUR = 'toStartOfHour(timestamp)';

interface Summed {
  /** The columns to group by, besides the sums: of rows by their time, or of the rollup by its hour. */
  readonly columns: (at: string, isOfRollup: boolean) => readonly TelemetrySql[];
  readonly keys: readonly string[];
  readonly grouping: Groups['by'] | undefined;
  readonly starts: readonly number[];
  readonly sums: readonly TrendSum[];
  readonly quantiles: TrendQuery['quantiles'];
}

/** The sums of the requests, one row for the same keys. */
function sumsOf(
  part: TrendPart,
  summed: Summed,
): Pick<TelemetryQuery<unknown>, 'settings'> & { readonly sql: TelemetrySql } {
  const { columns, keys, sums, quantiles } = summed;
  const groupBy = rawSql(`GROUP BY ${keys.join(', ')}`);
  const select = (at: string, expressionOf: (sum: TrendSum) => string, where: TelemetrySql) =>
    fragment`SELECT ${joinSql(
      [
        ...columns(at, at === HOUR),
        ...sums.map((sum) => rawSql(`${expressionOf(sum)} AS ${sum}`)),
        ...quantiles.map((figure) =>
          rawSql(`${times(figure === 'total_ms' ? 'total_us' : 'ttft_us')} AS ${figure}`),
        ),
      ],
      ', ',
    )} FROM request_log WHERE ${where} ${groupBy}`;
  const { scope, filter } = part;
  const whole = wholeHours(part, summed);
  if (!whole) {
    const sql = select('timestamp', (sum) => TREND_SUMS[sum], conditions(scope, filter));
    return { sql, settings: READ_ROWS };
  }
  const where = rollupConditions(scope, whole.hours, whole.split);
  const ofHour = (sum: TrendSum) =>
    sum === 'failed' ? '0' : sum === 'entries' ? TREND_SUMS[sum] : ROLLUP_SUMS[sum];
  // What the rollup lacks: rows of several requests, and which requests failed.
  const missing = (sum: TrendSum) =>
    (sum in MISSING ? MISSING[sum as keyof typeof MISSING] : undefined) ?? '0';
  const parts = [
    select('timestamp', (sum) => TREND_SUMS[sum], where.rest),
    select(HOUR, ofHour, where.whole),
    ...(sums.some((sum) => sum in MISSING)
      ? [select('timestamp', missing, fragment`${where.rowsOfWhole} AND request_count > 1`)]
      : []),
    ...(sums.includes('failed')
      ? [
          select(
            'timestamp',
            (sum) => (sum === 'failed' ? 'sum(request_count)' : '0'),
            fragment`${where.rowsOfWhole} AND ${rawSql(IS_ERROR)}`,
          ),
        ]
      : []),
  ];
  const added = rawSql([...keys, ...sums.map((sum) => `sum(part.${sum}) AS ${sum}`)].join(', '));
  return {
    sql: fragment`SELECT ${added} FROM (${joinSql(parts, ' UNION ALL ')}) AS part ${groupBy}`,
    settings: {},
  };
}

/** True if the rollup answers the sums of a query. */
export function hasRollup(
  part: TrendPart,
  { starts, groups }: Pick<TrendQuery, 'starts' | 'groups'>,
): boolean {
  return wholeHours(part, { grouping: groups?.by.by, starts, quantiles: [] }) !== undefined;
}

/** The hours that the rollup answers, if it has what the query filters and groups by. */
function wholeHours(
  { scope, filter, requestsPerHour }: TrendPart,
  { grouping, starts, quantiles }: Pick<Summed, 'grouping' | 'starts' | 'quantiles'>,
): { readonly hours: Hours; readonly split: readonly number[] } | undefined {
  const isFiltered = Object.values(filter).some((condition) => condition !== undefined);
  if (isFiltered || quantiles.length > 0) return undefined;
  let series: { grouping: analytics.Grouping; widthSeconds: number } | undefined;
  if (grouping === 'model' || grouping === 'key' || grouping === 'project') {
    series = { grouping, widthSeconds: 3600 };
  } else if (grouping !== undefined) return undefined;
  const hours = rollupWindow(scope, series, requestsPerHour);
  const split = hours && splitHours(hours, starts);
  return hours && split && { hours, split };
}

/** The rank of a row's group, from 1; one more than there are for a group that is not listed. */
function placeOf({ by, labels }: RankedGroups, isOfRollup: boolean): TelemetrySql {
  const rest = labels.length + 1;
  if (labels.length === 0) return rawSql('toUInt32(1)');
  const group = groupOf(by, isOfRollup);
  const values = labels.map((label) =>
    by.by === 'status' ? rawSql(String(Math.trunc(Number(label)))) : textLiteral(label),
  );
  const places = rawSql(`[${labels.map((_, index) => index + 1).join(',')}]::Array(UInt32)`);
  return fragment`transform(${group}, [${joinSql(values, ', ')}], ${places}, toUInt32(${rawSql(String(rest))}))`;
}
