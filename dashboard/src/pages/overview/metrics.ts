import type { GetTrendReply } from '@gatehouse/sdk';
import type { ChartKind } from '../../charts/plot-options.ts';
import { type Change, change, type Direction } from '../../format/change.ts';
import { duration } from '../../format/duration.ts';
import { count, countShort, percent, rate } from '../../format/number.ts';
import { pkr, pkrAmount, pkrExact, pkrShort } from '../../format/pkr.ts';
import { METRICS, type Metric } from './overview-choices.ts';

type Total = Omit<GetTrendReply['total'], 'per_bucket'>;
type PerBucket = GetTrendReply['total']['per_bucket'];
export type Values = readonly (number | null)[];

/** How a figure is read from a trend, written, and drawn. */
export interface MetricView {
  readonly label: string;
  /** The caption of the chart: what exactly is shown. */
  readonly caption: string;
  /** The figures that the API is asked for. */
  readonly figures: string;
  readonly direction: Direction;
  readonly kind: ChartKind;
  readonly unit?: string;
  readonly colour: string;
  readonly of: (total: Total) => number | null;
  readonly perBucket: (buckets: PerBucket) => Values;
  /** In a figure, without the unit. */
  readonly short: (value: number) => string;
  /** In full, with the unit. */
  readonly format: (value: number) => string;
  readonly axis: (value: number) => string;
}

const TIME = {
  direction: 'less-is-better',
  kind: 'lines',
  short: duration,
  format: duration,
  axis: duration,
} as const;

export const METRIC_VIEWS: Readonly<Record<Metric, MetricView>> = {
  requests: {
    label: 'Requests',
    caption: 'Rejected ones included',
    figures: 'requests',
    direction: 'neither',
    kind: 'stacked',
    colour: '--series-1',
    of: ({ requests = null }) => requests,
    perBucket: ({ requests = [] }) => requests,
    short: countShort,
    format: count,
    axis: countShort,
  },
  errors: {
    label: 'Errors',
    caption: 'Requests that the gateway refused or a provider failed',
    figures: 'errors',
    direction: 'less-is-better',
    kind: 'stacked',
    colour: '--series-4',
    of: ({ errors = null }) => errors,
    perBucket: ({ errors = [] }) => errors,
    short: countShort,
    format: count,
    axis: countShort,
  },
  spend: {
    label: 'Spend',
    caption: 'Cost of the requests that began in the window',
    figures: 'cost_pkr',
    direction: 'neither',
    kind: 'stacked',
    unit: 'PKR',
    colour: '--series-3',
    of: ({ cost_pkr = null }) => cost_pkr,
    perBucket: ({ cost_pkr = [] }) => cost_pkr,
    short: (value) => (value >= 10_000_000 ? pkrShort(value) : pkrAmount(value)),
    format: pkr,
    axis: pkrShort,
  },
  tokens: {
    label: 'Tokens',
    caption: 'Of every kind: prompt, completion and cache',
    figures: 'tokens',
    direction: 'neither',
    kind: 'stacked',
    colour: '--series-2',
    of: ({ tokens = null }) => tokens,
    perBucket: ({ tokens = [] }) => tokens,
    short: countShort,
    format: count,
    axis: countShort,
  },
  'latency-p50': {
    ...TIME,
    label: 'Latency p50',
    caption: 'Half of the requests took no longer',
    figures: 'total_ms',
    colour: '--series-5',
    of: ({ total_ms }) => total_ms?.p50 ?? null,
    perBucket: ({ total_ms }) => total_ms?.p50 ?? [],
  },
  'latency-p95': {
    ...TIME,
    label: 'Latency p95',
    caption: '95 of 100 requests took no longer',
    figures: 'total_ms',
    colour: '--series-5',
    of: ({ total_ms }) => total_ms?.p95 ?? null,
    perBucket: ({ total_ms }) => total_ms?.p95 ?? [],
  },
  ttft: {
    ...TIME,
    label: 'First token',
    caption: 'Time to the first token, p50: half of the streams took no longer',
    figures: 'ttft_ms',
    colour: '--series-7',
    of: ({ ttft_ms }) => ttft_ms?.p50 ?? null,
    perBucket: ({ ttft_ms }) => ttft_ms?.p50 ?? [],
  },
  speed: {
    label: 'Tokens a second',
    caption: 'Tokens generated, divided by the time spent generating them',
    figures: 'tokens_per_sec',
    direction: 'more-is-better',
    kind: 'lines',
    colour: '--series-6',
    of: ({ tokens_per_sec }) => tokens_per_sec ?? null,
    perBucket: ({ tokens_per_sec }) => tokens_per_sec ?? [],
    short: rate,
    format: (value) => `${rate(value)} tokens/s`,
    axis: rate,
  },
};

/** True if the figure is of quantiles, which take the longest to compute. */
export function isQuantile(metric: Metric): boolean {
  const { figures } = METRIC_VIEWS[metric];
  return figures === 'total_ms' || figures === 'ttft_ms';
}

/** All figures of the overview, but those that the chart has. */
export function figuresBeside(chosen: Metric): string {
  const all = METRICS.flatMap((metric) => METRIC_VIEWS[metric].figures);
  return [...new Set(all)].filter((name) => name !== METRIC_VIEWS[chosen].figures).join(',');
}

/** The change of a figure against the window before. */
export function metricChange(metric: Metric, { total, previous }: GetTrendReply): Change | undefined {
  const { of, direction } = METRIC_VIEWS[metric];
  return previous === null ? undefined : change(of(total), of(previous), direction);
}

/** A second figure, in small, beside the first. */
export function metricDetail(metric: Metric, { total }: GetTrendReply): string | undefined {
  const { requests = 0, errors = 0, cost_pkr: cost = 0, ttft_ms: ttft } = total;
  if (metric === 'errors') return requests === 0 ? undefined : `${percent(errors / requests)} of requests`;
  if (metric === 'spend') return requests === 0 ? undefined : `${pkrShort(cost / requests)} PKR a request`;
  if (metric === 'ttft')
    return ttft?.p95 === null || ttft?.p95 === undefined ? undefined : `p95 ${duration(ttft.p95)}`;
  return undefined;
}

/** The exact value, for the title of a figure. */
export function metricExact(metric: Metric, value: number | null): string | undefined {
  if (value === null) return undefined;
  return metric === 'spend' ? pkrExact(value) : METRIC_VIEWS[metric].format(value);
}
