import { BAR_ROWS, BARS, isMet, strain } from './bars.ts';
import { databaseOf, sizeOf } from './fill.ts';
import { quantile } from './quantiles.ts';
import type { Line, Results } from './results.ts';
import type { BenchStores } from './stores.ts';

/** Prints the tables of the results, as the documentation has them. */
export async function report(stores: BenchStores, results: Results, sizes: readonly number[]): Promise<void> {
  await printSizes(stores, sizes);
  printBars(results.lines.filter(({ rows }) => rows === BAR_ROWS));
  printGrowth(results.lines, sizes);
  for (const rows of sizes) {
    for (const subject of ['largest', 'median', 'small']) {
      const lines = results.lines.filter((line) => line.rows === rows && line.subject === subject);
      if (lines.length > 0) printLines(`${inWords(rows)}, the ${subject} organisation`, lines);
    }
  }
}

const row = (...cells: (string | number)[]) => process.stdout.write(`| ${cells.join(' | ')} |\n`);
const head = (...cells: string[]) => {
  process.stdout.write('\n');
  row(...cells);
  row(...cells.map(() => '---'));
};
const inWords = (rows: number) => `${rows / 1_000_000} M rows`;
const ms = (value: number) => (Number.isNaN(value) ? '' : value.toFixed(value < 10 ? 1 : 0));
const times = (value: number) => (Number.isFinite(value) ? value.toFixed(value < 10 ? 2 : 0) : '');
const p50 = (values: readonly number[]) => quantile(values, 0.5);
const p95 = (values: readonly number[]) => quantile(values, 0.95);

async function printSizes(stores: BenchStores, sizes: readonly number[]): Promise<void> {
  head('store', 'on disk, MB', 'of it the hourly rollup', 'bytes a row', 'parts');
  for (const rows of sizes) {
    const { bytes, projection_bytes: sums, parts } = await sizeOf(stores, databaseOf(rows));
    row(inWords(rows), (bytes / 1e6).toFixed(0), (sums / 1e6).toFixed(0), (bytes / rows).toFixed(0), parts);
  }
}

function printBars(lines: readonly Line[]): void {
  if (lines.length === 0) return;
  head(`bar, at ${inWords(BAR_ROWS)}`, 'lines', 'met', 'nearest to the limit, or furthest over it', 'there');
  for (const bar of BARS) {
    const concerned = lines.filter((line) => bar.concerns(line));
    const met = concerned.filter((line) => isMet(bar, line)).length;
    const [worst] = concerned.toSorted((a, b) => strain(bar, b) - strain(bar, a));
    if (!worst) continue;
    row(
      bar.name,
      concerned.length,
      met === concerned.length ? 'all' : met,
      `${worst.subject}, ${worst.query}, ${worst.window}`,
      `${bar.figure(worst).toFixed(1)} of ${bar.limit(worst).toFixed(1)} ${bar.unit}`,
    );
  }
}

function printGrowth(lines: readonly Line[], sizes: readonly number[]): void {
  for (const subject of ['largest', 'median']) {
    const ofSize = sizes.map((rows) =>
      lines.filter((line) => line.rows === rows && line.subject === subject && line.window === '90d'),
    );
    head(`90 d, the ${subject} organisation, p50 ms`, ...sizes.map(inWords), 'times');
    for (const { query } of ofSize[0] ?? []) {
      const found = ofSize.map((one) => p50(one.find((line) => line.query === query)?.api ?? []));
      row(query, ...found.map(ms), times((found.at(-1) ?? Number.NaN) / (found[0] ?? Number.NaN)));
    }
  }
}

function printLines(title: string, lines: readonly Line[]): void {
  head(
    title,
    'window',
    'p50 ms',
    'p95 ms',
    'baseline p50',
    'baseline p95',
    'api / baseline',
    'PostgreSQL p50',
    'PostgreSQL p95',
    'PostgreSQL / api',
    'PostgreSQL, plain indexes, p50',
    'it / api',
    'KB',
    'misses',
  );
  for (const line of lines) {
    const missed =
      line.rows === BAR_ROWS ? BARS.filter((bar) => bar.concerns(line) && !isMet(bar, line)) : [];
    row(
      line.query,
      line.window,
      ms(p50(line.api)),
      ms(p95(line.api)),
      `${ms(p50(line.baseline))} (${line.baselineName})`,
      ms(p95(line.baseline)),
      times(p50(line.api) / p50(line.baseline)),
      ms(p50(line.reference)),
      ms(p95(line.reference)),
      times(p50(line.reference) / p50(line.api)),
      ms(p50(line.referencePlain)),
      times(p50(line.referencePlain) / p50(line.api)),
      (line.bytes / 1000).toFixed(0),
      missed.map((bar) => BARS.indexOf(bar) + 1).join(' '),
    );
  }
}
