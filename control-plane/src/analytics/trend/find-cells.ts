import type { analytics } from '@gatehouse/contract';
import type { QuerySession } from '../query-session.ts';
import { QUANTILE_FIGURES } from './figures.ts';
import { type Cells, readCells, sumsOfFigures } from './series.ts';
import {
  hasRollup,
  namedSeries,
  type TrendPart,
  type TrendQuery,
  type TrendSum,
  trend,
} from './telemetry.ts';

export interface CellsQuery extends Pick<TrendQuery, 'starts' | 'groups'> {
  readonly figures: readonly analytics.TrendFigure[];
}

/** Sums of what quantiles read as well: alone they are not worth a query. */
const READ_WITH_QUANTILES: ReadonlySet<TrendSum> = new Set(['failed', 'requests', 'first_tokens']);

/** The cells of a trend. Where the rollup has the sums, only the quantiles are read from the rows, and with them what failed. */
export async function findCells(
  session: QuerySession,
  part: TrendPart,
  { figures, ...query }: CellsQuery,
): Promise<Cells> {
  const sums = sumsOfFigures(figures);
  // The rollup lacks what failed. It has the count of first tokens, but of a count alone the engine makes one of the nulls,
  // which the rollup lacks, and reads the rows.
  const isOfRows = (sum: TrendSum) =>
    sum === 'failed' || (sum === 'first_tokens' && !sums.includes('first_token'));
  const quantiles = QUANTILE_FIGURES.filter((figure) => figures.includes(figure));
  const isSplit =
    sums.some((sum) => !READ_WITH_QUANTILES.has(sum)) && quantiles.length > 0 && hasRollup(part, query);
  const queries = isSplit
    ? [
        { ...query, sums: sums.filter((sum) => !isOfRows(sum)), quantiles: [] },
        { ...query, sums: sums.filter(isOfRows), quantiles },
      ]
    : [{ ...query, sums, quantiles }];
  return readCells(
    await Promise.all(
      queries.map(async (one) => namedSeries(one, (await session.row(trend(part, one))).found)),
    ),
  );
}
