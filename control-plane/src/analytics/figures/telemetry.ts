import { analytics } from '@gatehouse/contract';
import type { Question } from '../../lib/ask-telemetry.ts';
import { conditions, conditionsWithoutWindow, READ_ROWS, type Scope } from '../telemetry.ts';
import { rollupWindow } from './rules.ts';

/**
 * Figures of a window: the summary, and series over time. Every one is made of sums and counts of integers. So it may be
 * put together from what the engine keeps for each whole hour (the projections hourly_by_key and hourly_by_model) and
 * the rows themselves at the two ends of the window, and is then to the last digit what all the rows give. Where that
 * does not pay, and where a filter is none that the hours are kept by, the rows are read.
 *
 * A row of refused requests may stand for several (request_count). Requests are counted by it, and the
 * time of such a row, the mean of its requests, weighs as many times. Of tokens, cost and first tokens it has none.
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
const SUMS = {
  requests: 'sum(request_count)',
  total: 'sum(total_us * request_count)',
  first_token: 'sum(ttft_us)',
  first_tokens: 'count(ttft_us)',
  generated: 'sumIf(tokens_generated, isNotNull(generation_us))',
  generating: 'sum(generation_us)',
  tokens: 'sum(total_tokens)',
  cost: 'sum(cost_micro_pkr)',
} as const;

type Sum = keyof typeof SUMS;

// The hours know nothing of request_count: in them a row is one request, and what the rows of several lack is added.
const SUMS_OF_HOURS: Readonly<Record<Sum, string>> = { ...SUMS, requests: 'count()', total: 'sum(total_us)' };
const LACKING: Readonly<Partial<Record<Sum, string>>> = {
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

// A request that was refused before its model was read has the model ''. A caller may also have named its model like
// the group that stands for it, so both are one group from the start: a page ends at a place that is there only once.
// transform() works on the dictionary of the column and costs nothing, and the projection is used as for the column.
const GROUPS: Readonly<Record<analytics.Grouping, string>> = {
  project: 'project_id',
  key: 'key_id',
  model: `transform(model, [''], ['${analytics.UNATTRIBUTED}'])`,
};

/** `requestsAnHour`: about how many the organisation makes, if known. */
export function summary(scope: Scope, requestsAnHour?: number): Question<SummaryRow> {
  const { sql, values, settings } = sums(scope, Object.keys(SUMS) as Sum[], [], requestsAnHour);
  return {
    sql: `SELECT toString(requests) AS requests_text,
                 ${mean('total', 'requests')} AS mean_total_ms,
                 ${mean('first_token', 'first_tokens')} AS mean_ttft_ms,
                 ${TOKENS_A_SECOND} AS tokens_a_second,
                 toString(tokens) AS tokens_text,
                 toString(cost) AS cost_text
          FROM (${sql})`,
    values,
    settings,
  };
}

/** A figure over time. */
export interface Series {
  readonly metric: analytics.Metric;
  readonly grouping: analytics.Grouping;
  /** How wide a bucket is. Buckets are numbered from the epoch on. */
  readonly widthSeconds: number;
  /** About how many requests an hour the organisation makes, if known. */
  readonly requestsAnHour?: number | undefined;
}

/** A place in a series, in its order. */
export interface Place {
  /** The number of the bucket. */
  readonly bucket: bigint;
  readonly group: string;
}

/** The first points of a series in the scope, or the first after a place, ready to be sent. */
export function points(
  scope: Scope,
  series: Series,
  page: { readonly limit: number; readonly after: Place | undefined },
): Question<unknown> {
  const { of, value } = METRICS[series.metric];
  const { sql, values, settings } = sums(scope, of, ['nth', 'grp'], series.requestsAnHour, series);
  const after = page.after ? 'AND (nth, label) > ({after_bucket:Int64}, {after_group:String})' : '';
  return {
    sql: `SELECT formatDateTime(toDateTime(nth * {width:Int64}, 'UTC'), '%FT%T') AS bucket, label AS group, value
          FROM (SELECT nth, ifNull(toString(grp), '${analytics.UNATTRIBUTED}') AS label, ${value} AS value FROM (${sql}))
          WHERE isNotNull(value) ${after}
          ORDER BY nth, label
          LIMIT {limit:UInt64}`,
    values: {
      ...values,
      width: series.widthSeconds,
      limit: page.limit,
      ...(page.after ? { after_bucket: page.after.bucket, after_group: page.after.group } : {}),
    },
    settings: {
      ...settings,
      output_format_json_quote_64bit_integers: 0,
      output_format_json_escape_forward_slashes: 0,
    },
  };
}

/** About how many groups a series has. */
export function countGroups(scope: Scope, grouping: analytics.Grouping): Question<{ groups: string }> {
  const { sql, values } = conditions(scope);
  return {
    sql: `SELECT toString(uniqCombined(12)(${GROUPS[grouping]})) AS groups FROM request_log WHERE ${sql}`,
    values,
  };
}

/** When the row was that follows this many others of the scope, by time; no row where there are not as many. */
export function timeAfterRows(scope: Scope, rows: number): Question<{ micros: string }> {
  const { sql, values } = conditions(scope);
  return {
    sql: `SELECT toString(toUnixTimestamp64Micro(timestamp)) AS micros FROM request_log WHERE ${sql}
          ORDER BY timestamp LIMIT 1 OFFSET {rows:UInt64}`,
    values: { ...values, rows },
    settings: READ_ROWS,
  };
}

type Column = 'nth' | 'grp';

/** The sums of the scope by the columns: one row, or one for each bucket and group. */
function sums(
  scope: Scope,
  wanted: readonly Sum[],
  by: readonly Column[],
  requestsAnHour: number | undefined,
  series?: Series,
): Required<Omit<Question<unknown>, 'row'>> {
  const group = series ? GROUPS[series.grouping] : '';
  const select = (nth: string, expressionOf: (sum: Sum) => string) =>
    [
      ...by.map((column) => `${column === 'nth' ? nth : group} AS ${column}`),
      ...wanted.map((sum) => `${expressionOf(sum)} AS ${sum}`),
    ].join(', ');
  const grouped = by.length === 0 ? '' : `GROUP BY ${by.join(', ')}`;
  const width = series ? { width: series.widthSeconds } : {};
  const bucketOfRow = 'intDiv(toUnixTimestamp64Micro(timestamp), {width:Int64} * 1000000)';
  const ofRows = select(bucketOfRow, (sum) => SUMS[sum]);

  const hours = rollupWindow(scope, series, requestsAnHour);
  if (!hours) {
    const { sql, values } = conditions(scope);
    return {
      sql: `SELECT ${ofRows} FROM request_log WHERE ${sql} ${grouped}`,
      values: { ...values, ...width },
      settings: READ_ROWS,
    };
  }
  const { sql, values } = conditionsWithoutWindow(scope);
  const bucketOfHour = 'intDiv(toUnixTimestamp(toStartOfHour(timestamp)), {width:Int64})';
  const ofHours = select(bucketOfHour, (sum) => SUMS_OF_HOURS[sum]);
  const lacking = select(bucketOfRow, (sum) => LACKING[sum] ?? '0');
  const plusLacking = `UNION ALL
            SELECT ${lacking} FROM request_log
            WHERE ${sql} AND request_count > 1
              AND timestamp >= toDateTime64({from_hour:UInt32}, 6, 'UTC')
              AND timestamp < toDateTime64({to_hour:UInt32}, 6, 'UTC')
            ${grouped}`;
  return {
    sql: `SELECT ${[...by, ...wanted.map((sum) => `sum(part.${sum}) AS ${sum}`)].join(', ')}
          FROM (
            SELECT ${ofRows} FROM request_log
            WHERE ${sql} AND (
              (timestamp >= fromUnixTimestamp64Micro({from_micros:Int64})
                AND timestamp < toDateTime64({from_hour:UInt32}, 6, 'UTC'))
              OR (timestamp >= toDateTime64({to_hour:UInt32}, 6, 'UTC')
                AND timestamp <= fromUnixTimestamp64Micro({to_micros:Int64})))
            ${grouped}
            UNION ALL
            SELECT ${ofHours} FROM request_log
            WHERE ${sql} AND toStartOfHour(timestamp) >= toDateTime({from_hour:UInt32}, 'UTC')
              AND toStartOfHour(timestamp) < toDateTime({to_hour:UInt32}, 'UTC')
            ${grouped}
            ${wanted.some((sum) => sum in LACKING) ? plusLacking : ''}
          ) AS part
          ${grouped}`,
    values: {
      ...values,
      ...width,
      from_micros: scope.fromMicros,
      to_micros: scope.toMicros,
      from_hour: hours.fromSeconds,
      to_hour: hours.toSeconds,
    },
    settings: {},
  };
}
