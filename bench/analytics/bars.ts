import { quantile } from './quantiles.ts';
import type { Line } from './results.ts';

/** The size of the store that the bars are for. */
export const BAR_ROWS = 10_000_000;

/** A limit for some lines of the tables. */
export interface Bar {
  readonly name: string;
  concerns(line: Line): boolean;
  /** The figure that the limit is for. */
  figure(line: Line): number;
  limit(line: Line): number;
  /** The limit is a minimum. */
  readonly isAtLeast?: true;
  readonly unit: string;
}

const api95 = (line: Line) => quantile(line.api, 0.95);
const api50 = (line: Line) => quantile(line.api, 0.5);
const isOver2000Buckets = (line: Line) => line.query.endsWith(', 1h');
const isSum = (line: Line) =>
  (line.kind === 'summary' || line.kind === 'timeseries') && !isOver2000Buckets(line);

export const BARS: readonly Bar[] = [
  {
    name: 'summary and timeseries of the median and the small, p95',
    concerns: (line) => isSum(line) && line.subject !== 'largest',
    figure: api95,
    limit: () => 50,
    unit: 'ms',
  },
  {
    name: 'summary and timeseries of the largest, p95',
    concerns: (line) => isSum(line) && line.subject === 'largest',
    figure: api95,
    limit: () => 120,
    unit: 'ms',
  },
  {
    name: 'pages of requests, p95',
    concerns: (line) => line.kind === 'requests',
    figure: api95,
    limit: () => 100,
    unit: 'ms',
  },
  {
    name: 'search, p95',
    concerns: (line) => line.kind === 'search',
    figure: api95,
    limit: () => 300,
    unit: 'ms',
  },
  {
    name: 'at most 1.3 times the baseline and 3 ms, p50',
    concerns: () => true,
    figure: api50,
    limit: (line) => 1.3 * quantile(line.baseline, 0.5) + 3,
    unit: 'ms',
  },
  ...(
    [
      ['reference', 'covering indexes'],
      ['referencePlain', 'plain indexes'],
    ] as const
  ).map(
    ([who, what]): Bar => ({
      name: `PostgreSQL, ${what}, takes 10 times as long over 30 d and more, p50`,
      concerns: (line) => ['30d', '90d'].includes(line.window) && line[who].length > 0,
      figure: (line) => quantile(line[who], 0.5) / api50(line),
      limit: () => 10,
      isAtLeast: true,
      unit: 'times',
    }),
  ),
];

export const isMet = (bar: Bar, line: Line) =>
  bar.isAtLeast ? bar.figure(line) >= bar.limit(line) : bar.figure(line) <= bar.limit(line);

/** The figure of a line relative to its limit: above 1 it misses the bar. */
export const strain = (bar: Bar, line: Line) =>
  bar.isAtLeast ? bar.limit(line) / bar.figure(line) : bar.figure(line) / bar.limit(line);
