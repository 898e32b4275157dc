import type { BaselinePlan } from './baseline.ts';
import { hoursAndEdges, inWindow, RAW, SUMS, type Sum } from './baseline.ts';
import type { Facts, Target } from './bench-query.ts';

const ALL = Object.keys(SUMS) as Sum[];

const select = (sums: readonly Sum[]) => sums.map((name) => `${SUMS[name]} AS ${name}`).join(', ');
const again = (sums: readonly Sum[]) => sums.map((name) => `sum(${name}) AS ${name}`).join(', ');

export type SummaryRow = Readonly<Record<Sum, number | null>>;

/** Requests, tokens, latency and first token in ms, tokens a second. */
export function summaryFacts(row: SummaryRow | undefined): Facts {
  if (!row) return [];
  return [
    row.requests,
    row.tokens ?? 0,
    mean(row.total_us_sum, row.requests, 1e-3),
    mean(row.ttft_us_sum, row.ttft_count, 1e-3),
    mean(row.timed_tokens, row.timed_us, 1e6),
  ];
}

const mean = (sum: number | null, count: number | null, unit: number) =>
  sum !== null && count !== null && count > 0 ? (sum / count) * unit : null;

/** The sums of a window from the rows, and from the hours with the rows at the edges. */
export function summaryPlans(at: Target, filter = ''): BaselinePlan[] {
  const { hours, edges } = hoursAndEdges(at);
  const rows = `SELECT ${select(ALL)} FROM request_log WHERE ${inWindow(at)}${filter}`;
  const ends = `SELECT ${select(ALL)} FROM request_log WHERE ${edges}${filter}`;
  const middle = `SELECT ${select(ALL)} FROM request_log WHERE ${hours}${filter}`;
  return [
    {
      name: 'rows',
      run: async (send) => summaryFacts((await send<SummaryRow>(rows, RAW))[0]),
    },
    {
      name: 'hours and edges',
      run: async (send) =>
        summaryFacts((await send<SummaryRow>(`SELECT ${again(ALL)} FROM (${middle} UNION ALL ${ends})`))[0]),
    },
    {
      name: 'hours and edges at once',
      async run(send) {
        const both = await Promise.all([send<SummaryRow>(middle), send<SummaryRow>(ends, RAW)]);
        const sum = (name: Sum) => both.reduce((total, [row]) => total + Number(row?.[name] ?? 0), 0);
        return summaryFacts(Object.fromEntries(ALL.map((name) => [name, sum(name)])) as SummaryRow);
      },
    },
  ];
}

export type Metric = 'volume' | 'latency' | 'tok_s';
export type Grouping = 'model' | 'project' | 'key';

const METRICS: Readonly<Record<Metric, { sums: readonly Sum[]; value: string; exists: string }>> = {
  volume: { sums: ['requests'], value: 'requests', exists: '1' },
  latency: {
    sums: ['requests', 'total_us_sum'],
    value: 'total_us_sum / requests / 1000',
    exists: '1',
  },
  tok_s: {
    sums: ['timed_tokens', 'timed_us'],
    value: 'timed_tokens / timed_us * 1000000',
    exists: 'timed_us > 0',
  },
};

const GROUPS: Readonly<Record<Grouping, string>> = {
  model: 'model',
  project: 'project_id',
  key: 'key_id',
};

export interface Series {
  readonly metric: Metric;
  readonly grouping: Grouping;
  /** How wide a bucket is. */
  readonly seconds: number;
}

interface Point {
  readonly bucket: string;
  readonly name: string;
  readonly value: number;
}

export const seriesFacts = (points: readonly { readonly value: number }[]): Facts => [
  points.length,
  points.reduce((sum, { value }) => sum + value, 0),
];

/** A series from the rows, and where hours make up its buckets, from the hours with the rows at the edges. */
export function seriesPlans(at: Target, { metric, grouping, seconds }: Series): BaselinePlan[] {
  const { sums, value, exists } = METRICS[metric];
  const group = GROUPS[grouping];
  const { hours, edges } = hoursAndEdges(at);
  const cut = (time: string) => `intDiv(toUnixTimestamp(${time}), ${seconds})`;
  const by = (time: string, where: string) =>
    `SELECT ${cut(time)} AS nth, ${group} AS one, ${select(sums)} FROM request_log WHERE ${where} GROUP BY nth, one`;
  const point = `SELECT toDateTime(nth * ${seconds}, 'UTC') AS bucket, toString(one) AS name, ${value} AS value`;
  const points = async (rows: Promise<Point[]>) => seriesFacts(await rows);
  const rows = `${point} FROM (${by('timestamp', inWindow(at))}) WHERE ${exists} ORDER BY bucket, name`;
  const plans: BaselinePlan[] = [{ name: 'rows', run: (send) => points(send<Point>(rows, RAW)) }];
  if (seconds % 3_600 !== 0) return plans;
  const both = `${by('toStartOfHour(timestamp)', hours)} UNION ALL ${by('timestamp', edges)}`;
  plans.push({
    name: 'hours and edges',
    run: (send) =>
      points(
        send<Point>(
          `${point} FROM (SELECT nth, one, ${again(sums)} FROM (${both}) GROUP BY nth, one)
           WHERE ${exists} ORDER BY bucket, name`,
        ),
      ),
  });
  return plans;
}

interface ThrottlingRow {
  readonly requests: number;
  readonly throttled: number;
  readonly peak: number;
}

export const throttlingFacts = (rows: readonly ThrottlingRow[]): Facts => [
  rows.length,
  rows.reduce((sum, row) => sum + row.requests, 0),
  rows.reduce((sum, row) => sum + row.throttled, 0),
  Math.max(0, ...rows.map((row) => row.peak)),
];

// Half an id is enough to distinguish an organisation's keys, and eight bytes group faster than sixteen.
const KEYS = { 'whole keys': 'key_id', 'half keys': 'reinterpretAsUInt64(assumeNotNull(key_id))' } as const;

export function throttlingPlans(at: Target): BaselinePlan[] {
  const isRefused = "status = 429 AND refusal = 'rate_limit_exceeded'";
  return Object.entries(KEYS).map(([name, key]): BaselinePlan => {
    const sql = `
      SELECT any(id) AS key_id, any(project) AS project_id, sum(n) AS requests, sum(refused) AS throttled,
             max(n) AS peak, max(last) AS last_at
      FROM (SELECT ${key} AS one, any(key_id) AS id, any(project_id) AS project,
                   intDiv(toUnixTimestamp(timestamp), 60) AS minute, count() AS n,
                   countIf(${isRefused}) AS refused, maxIf(timestamp, ${isRefused}) AS last
            FROM request_log WHERE ${inWindow(at)} AND isNotNull(key_id) GROUP BY one, minute)
      GROUP BY one ORDER BY throttled DESC`;
    return { name, run: async (send) => throttlingFacts(await send<ThrottlingRow>(sql, RAW)) };
  });
}

export function lastUsedPlans(at: Target): BaselinePlan[] {
  const sql = `SELECT key_id, max(last_used_at) AS last FROM key_last_used
               WHERE organization_id = '${at.subject.organizationId}' GROUP BY key_id`;
  return [{ name: 'the rollup', run: async (send) => [(await send(sql)).length] }];
}
