import { type AliasTable, aliasTable } from './alias-table.ts';
import { type Calendar, makeCalendar } from './calendar.ts';
import { draw } from './draws.ts';
import type { Population, PopulationKey } from './population.ts';

// The rows are numbered from the oldest to the newest and split into batches, each made by one statement. Within a batch
// the same keys are in use, so it ends where a key begins, expires or stops, and after a million rows.

const MAX_BATCH_ROWS = 1_000_000;
// The most time steps within a batch.
const MAX_CELLS = 4_096;

// At times a key exceeds its rate limit. A stretch of rows has at most one such burst, in its first rows, which then all
// belong to one key.
const MAX_ROWS_PER_STRETCH = 4_000;
const MIN_ROWS_PER_STRETCH = 200;
const STRETCHES_IN_ALL = 50;
const MAX_OF_STRETCH = 0.25;
const BURST_OF_LIMIT_FROM = 1.3;
const BURST_OF_LIMIT_TO = 2.3;
const BURST_MICROS = 57_000_000;
// The share of all requests that exceed a rate limit.
const THROTTLED_SHARE = 0.012;

// The share of its requests that a key still sends after it has expired.
const EXPIRED_SHARE = 0.15;

export interface Batch {
  readonly firstRow: number;
  readonly rows: number;
  readonly fromMicros: bigint;
  readonly untilMicros: bigint;
  /** The key of a row, as an index of the population. */
  readonly keys: AliasTable;
  /** Indexes of the keys that are rejected because they have expired. */
  readonly expiredKeys: readonly number[];
  /** The bounds of the time cells. All cells have the same number of rows. */
  readonly cellMicros: readonly bigint[];
  readonly bursts: readonly Burst[];
}

export interface Burst {
  /** The stretches of all batches are numbered together. */
  readonly stretch: number;
  readonly key: number;
  readonly rows: number;
  readonly startMicros: bigint;
  readonly lengthMicros: number;
}

export interface TrafficWindow {
  readonly rows: number;
  readonly days: number;
  readonly endMicros: bigint;
  readonly seed: number;
}

export function startMicrosOf({ endMicros, days }: Pick<TrafficWindow, 'endMicros' | 'days'>): bigint {
  return endMicros - BigInt(Math.round(days * 86_400_000_000));
}

export function rowsPerStretch(rows: number): number {
  const even = Math.floor(rows / STRETCHES_IN_ALL);
  return Math.min(Math.max(even, MIN_ROWS_PER_STRETCH), MAX_ROWS_PER_STRETCH);
}

/** The batches in order of time. A generator, because a batch has long lists. */
export function* planBatches(population: Population, window: TrafficWindow): Generator<Batch> {
  const { rows, days, endMicros, seed } = window;
  const startMicros = startMicrosOf(window);
  const calendar = makeCalendar(startMicros, days, seed);
  const rowAt = (micros: bigint) => Math.ceil(calendar.shareAt(Number(micros - startMicros)) * rows);
  for (const [fromMicros, untilMicros] of periods(population.keys, startMicros, endMicros)) {
    const expired = population.keys.map(
      ({ expiresAtMicros }) => expiresAtMicros !== undefined && expiresAtMicros <= fromMicros,
    );
    const weights = population.keys.map((key, index) => {
      const isUsed =
        (key.usedFromMicros ?? startMicros) <= fromMicros && (key.usedUntilMicros ?? endMicros) > fromMicros;
      return isUsed ? key.share * (expired[index] ? EXPIRED_SHARE : 1) : 0;
    });
    if (!weights.some((weight) => weight > 0)) {
      throw new RangeError(
        `no key is in use from ${fromMicros} to ${untilMicros} microseconds after the epoch`,
      );
    }
    const period = {
      fromMicros,
      untilMicros,
      keys: aliasTable(weights),
      expiredKeys: expired.flatMap((isExpired, index) => (isExpired ? index : [])),
    };
    const untilRow = untilMicros === endMicros ? rows : rowAt(untilMicros);
    for (let firstRow = rowAt(fromMicros); firstRow < untilRow; firstRow += MAX_BATCH_ROWS) {
      const batch = { ...period, firstRow, rows: Math.min(MAX_BATCH_ROWS, untilRow - firstRow) };
      const timed = { ...batch, cellMicros: cellsOf(batch, calendar, window) };
      yield { ...timed, bursts: burstsOf(timed, weights, population, calendar, window) };
    }
  }
}

function periods(keys: readonly PopulationKey[], startMicros: bigint, endMicros: bigint): [bigint, bigint][] {
  const inner = keys
    .flatMap(({ usedFromMicros, expiresAtMicros, usedUntilMicros }) => [
      usedFromMicros ?? startMicros,
      expiresAtMicros ?? startMicros,
      usedUntilMicros ?? startMicros,
    ])
    .filter((micros) => micros > startMicros && micros < endMicros);
  const bounds = [...new Set([startMicros, ...inner, endMicros])].sort((a, b) => (a < b ? -1 : 1));
  return bounds.slice(1).map((until, index) => [bounds[index] as bigint, until]);
}

function cellsOf(
  { firstRow, rows }: Pick<Batch, 'firstRow' | 'rows'>,
  calendar: Calendar,
  window: TrafficWindow,
): bigint[] {
  const startMicros = startMicrosOf(window);
  const cells = Math.min(rows, MAX_CELLS);
  return Array.from({ length: cells + 1 }, (_, cell) => {
    const share = (firstRow + (cell * rows) / cells) / window.rows;
    return startMicros + BigInt(Math.round(calendar.offsetAt(share)));
  });
}

function burstsOf(
  { firstRow, rows, expiredKeys }: Omit<Batch, 'bursts'>,
  weights: readonly number[],
  population: Population,
  calendar: Calendar,
  window: TrafficWindow,
): Burst[] {
  const { seed } = window;
  const stretchRows = rowsPerStretch(window.rows);
  const startMicros = startMicrosOf(window);
  const candidates = population.keys.map(({ rateLimitRpm }, index) =>
    rateLimitRpm * BURST_OF_LIMIT_TO <= stretchRows * MAX_OF_STRETCH && !expiredKeys.includes(index)
      ? (weights[index] as number)
      : 0,
  );
  if (!candidates.some((weight) => weight > 0)) return [];
  const table = aliasTable(candidates);
  const bursts: Burst[] = [];
  for (
    let stretch = Math.ceil(firstRow / stretchRows);
    stretch * stretchRows < firstRow + rows;
    stretch += 1
  ) {
    const slot = Math.floor(draw(seed, 'burst', stretch) * candidates.length);
    const isOwn = draw(seed, 'burst own', stretch) < (table.chances[slot] as number);
    const key = isOwn ? slot : (table.others[slot] as number);
    const excess = draw(seed, 'burst size', stretch) * (BURST_OF_LIMIT_TO - BURST_OF_LIMIT_FROM);
    const limit = population.keys[key]?.rateLimitRpm ?? 0;
    const size = Math.ceil(limit * (BURST_OF_LIMIT_FROM + excess));
    if (draw(seed, 'burst at all', stretch) * (size - limit) > THROTTLED_SHARE * stretchRows) continue;
    const first = stretch * stretchRows;
    if (first + size > firstRow + rows) continue;
    const begin = Math.round(calendar.offsetAt(first / window.rows));
    const end = Math.round(calendar.offsetAt((first + size) / window.rows));
    bursts.push({
      stretch,
      key,
      rows: size,
      startMicros: startMicros + BigInt(begin),
      lengthMicros: Math.min(BURST_MICROS, end - begin),
    });
  }
  return bursts;
}
