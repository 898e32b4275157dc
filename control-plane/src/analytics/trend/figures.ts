import { type analytics, pkrNumber } from '@gatehouse/contract';
import { type Quantiles, quantiles, UNKNOWN } from '../breakdown/rules.ts';
import type { TrendSum } from './telemetry.ts';

/** The sums of one cell of a trend: a bucket or the whole window, of a group or of all. */
export type Cell = Partial<Readonly<Record<TrendSum, number | string>>> & {
  readonly totalBits?: readonly number[];
  readonly firstBits?: readonly number[];
};

/** A figure: the sums that it is computed from, and its value where they are those of a cell or of nothing. */
interface Figure<Value> {
  readonly of: readonly TrendSum[];
  readonly value: (cell: Cell) => Value;
}

const count = (sum: TrendSum) => ({ of: [sum], value: (cell: Cell) => Number(cell[sum] ?? 0) });

const ratio = (sum: TrendSum, per: TrendSum, unit: (value: number) => number) => ({
  of: [sum, per],
  value: (cell: Cell) => (Number(cell[per] ?? 0) > 0 ? unit(Number(cell[sum]) / Number(cell[per])) : null),
});

// In the order of the operations of the summary's SQL, so that the figures agree to the last digit.
const milliseconds = (micros: number) => micros / 1000;
const perSecond = (perMicrosecond: number) => perMicrosecond * 1_000_000;

export const FIGURES = {
  requests: count('requests'),
  rows: count('entries'),
  errors: count('failed'),
  tokens: count('tokens'),
  cost_pkr: { of: ['cost'], value: ({ cost = '0' }: Cell) => pkrNumber(BigInt(cost)) },
  avg_total_ms: ratio('total', 'requests', milliseconds),
  avg_ttft_ms: ratio('first_token', 'first_tokens', milliseconds),
  tokens_per_sec: ratio('generated', 'generating', perSecond),
  total_ms: {
    of: ['requests'],
    value: ({ requests, totalBits }: Cell) =>
      totalBits && Number(requests) > 0 ? quantiles(totalBits) : UNKNOWN,
  },
  ttft_ms: {
    of: ['first_tokens'],
    value: ({ first_tokens, firstBits }: Cell) =>
      firstBits && Number(first_tokens) > 0 ? quantiles(firstBits) : UNKNOWN,
  },
} as const satisfies Readonly<Record<analytics.TrendFigure, Figure<number | null | Quantiles>>>;

/** The figures that need the rows themselves. */
export const QUANTILE_FIGURES = ['total_ms', 'ttft_ms'] as const satisfies readonly analytics.TrendFigure[];

export function isQuantile(figure: analytics.TrendFigure): figure is (typeof QUANTILE_FIGURES)[number] {
  return figure === 'total_ms' || figure === 'ttft_ms';
}
