import { type analytics, invalid, MAX_TREND_CELLS, MAX_TREND_QUANTILE_CELLS } from '@gatehouse/contract';
import type { Window } from '../window.ts';
import { type Cell, FIGURES, isQuantile } from './figures.ts';
import type { TrendSeries, TrendSum } from './telemetry.ts';

/** The figures of one series, as the API has them. */
export type SeriesFigures = analytics.TrendFigures & { readonly per_bucket: analytics.TrendBuckets };

/** The window of equal length that ends where this one begins; undefined if it would begin before 1970. */
export function windowBefore({ fromMicros, toMicros }: Window): Window | undefined {
  const before = { fromMicros: fromMicros - (toMicros - fromMicros) - 1n, toMicros: fromMicros - 1n };
  return before.fromMicros < 0n ? undefined : before;
}

/** Throws the 400 for more series and buckets than a reply may have. */
export function requireFewCells(
  buckets: number,
  limit: number | undefined,
  figures: readonly analytics.TrendFigure[],
): void {
  const max = figures.some(isQuantile) ? MAX_TREND_QUANTILE_CELLS : MAX_TREND_CELLS;
  // The listed groups, the others and the total.
  const series = limit === undefined ? 1 : limit + 2;
  if (buckets * series <= max) return;
  const fitting = Math.floor(max / buckets) - 2;
  const lower = fitting >= 1 ? `a limit of at most ${fitting}, ` : '';
  const without = figures.some(isQuantile) ? ', or figures without total_ms and ttft_ms' : '';
  const msg = `Too many groups for ${buckets} buckets: send ${lower}a wider interval${without}.`;
  throw invalid([{ loc: ['query', 'limit'], msg, type: 'too_large' }]);
}

/** The sums that the figures are computed from. */
export function sumsOfFigures(figures: readonly analytics.TrendFigure[]): TrendSum[] {
  return [...new Set(figures.flatMap((figure): readonly TrendSum[] => FIGURES[figure].of))];
}

/** The result of a query, joined where several found parts of it: the cells of each place by bucket. */
export type Cells = ReadonlyMap<number, ReadonlyMap<number, Cell>>;

/** Reads the series of one or more queries with the same places and buckets. */
export function readCells(found: readonly (readonly TrendSeries[])[]): Cells {
  const places = new Map<number, Map<number, Cell>>();
  for (const { place, cells, total_ms, ttft_ms, ...sums } of found.flat()) {
    const known = places.get(place) ?? new Map<number, Cell>();
    places.set(place, known);
    for (const [index, at] of cells.entries()) {
      known.set(at, {
        ...known.get(at),
        ...Object.fromEntries(Object.entries(sums).map(([sum, values]) => [sum, values[index]])),
        ...(total_ms ? { totalBits: total_ms[index] } : {}),
        ...(ttft_ms ? { firstBits: ttft_ms[index] } : {}),
      });
    }
  }
  return places;
}

const NOTHING: Cell = {};
/** The place of a cell that is the whole window's. */
const WHOLE = 0;

/** The figures of a place over the window. */
export function figuresOf(
  cells: Cells,
  place: number,
  figures: readonly analytics.TrendFigure[],
): analytics.TrendFigures {
  const cell = cells.get(place)?.get(WHOLE) ?? NOTHING;
  return Object.fromEntries(figures.map((figure) => [figure, FIGURES[figure].value(cell)]));
}

/** The figures of a place over the window and in each bucket. */
export function seriesOf(
  cells: Cells,
  place: number,
  figures: readonly analytics.TrendFigure[],
  starts: readonly number[],
): SeriesFigures {
  const found = cells.get(place);
  const buckets = starts.map((start) => found?.get(start + 1) ?? NOTHING);
  const per_bucket = Object.fromEntries(
    figures.map((figure) => {
      if (!isQuantile(figure)) return [figure, buckets.map(FIGURES[figure].value)];
      const values = buckets.map(FIGURES[figure].value);
      return [figure, { p50: values.map(({ p50 }) => p50), p95: values.map(({ p95 }) => p95) }];
    }),
  );
  return { ...figuresOf(cells, place, figures), per_bucket };
}
