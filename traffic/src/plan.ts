import { type AliasTable, aliasTable } from './alias-table.ts';
import { type Calendar, makeCalendar } from './calendar.ts';
import type { Cast, CastKey } from './cast.ts';
import { draw } from './draws.ts';

// The rows are numbered from the oldest to the newest and cut into passages, each filled by one statement. Within a
// passage the same keys are in use, so it ends where a key begins, expires or falls silent, and after a million rows.

const LARGEST_PASSAGE_ROWS = 1_000_000;
// The finest steps in which time runs within a passage.
const MOST_CELLS = 4_096;

// Now and then a key sends more in a minute than it may. A stretch of rows has one such burst at most, in its first
// rows, which then all belong to one key.
const MOST_ROWS_PER_STRETCH = 4_000;
const LEAST_ROWS_PER_STRETCH = 200;
const STRETCHES_IN_ALL = 50;
const MOST_OF_STRETCH = 0.25;
const BURST_OF_LIMIT_FROM = 1.3;
const BURST_OF_LIMIT_TO = 2.3;
const BURST_MICROS = 57_000_000;
// Of all requests, those that are too many.
const THROTTLED_SHARE = 0.012;

// Of what a key would send: who has an expired one gives up, though not everywhere.
const EXPIRED_SHARE = 0.15;

export interface Passage {
  readonly firstRow: number;
  readonly rows: number;
  readonly fromMicros: bigint;
  readonly untilMicros: bigint;
  /** Which key a row is of, by place in the cast. */
  readonly keys: AliasTable;
  /** By place, the keys that are refused because they have expired. */
  readonly expiredKeys: readonly number[];
  /** The rows' times: as many cells as numbers less one, of equally many rows each, begin at these moments. */
  readonly cellMicros: readonly bigint[];
  readonly bursts: readonly Burst[];
}

export interface Burst {
  /** Counted from the first row of all. */
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
  return Math.min(Math.max(even, LEAST_ROWS_PER_STRETCH), MOST_ROWS_PER_STRETCH);
}

/** The passages in order of time. One at a time: a passage's lists are long. */
export function* planPassages(cast: Cast, window: TrafficWindow): Generator<Passage> {
  const { rows, days, endMicros, seed } = window;
  const startMicros = startMicrosOf(window);
  const calendar = makeCalendar(startMicros, days, seed);
  const rowAt = (micros: bigint) => Math.ceil(calendar.shareAt(Number(micros - startMicros)) * rows);
  for (const [fromMicros, untilMicros] of eras(cast.keys, startMicros, endMicros)) {
    const expired = cast.keys.map(
      ({ expiresAtMicros }) => expiresAtMicros !== undefined && expiresAtMicros <= fromMicros,
    );
    const weights = cast.keys.map((key, place) => {
      const isUsed =
        (key.usedFromMicros ?? startMicros) <= fromMicros && (key.usedUntilMicros ?? endMicros) > fromMicros;
      return isUsed ? key.share * (expired[place] ? EXPIRED_SHARE : 1) : 0;
    });
    if (!weights.some((weight) => weight > 0)) {
      throw new RangeError(
        `no key is in use from ${fromMicros} to ${untilMicros} microseconds after the epoch`,
      );
    }
    const era = {
      fromMicros,
      untilMicros,
      keys: aliasTable(weights),
      expiredKeys: expired.flatMap((isExpired, place) => (isExpired ? place : [])),
    };
    const untilRow = untilMicros === endMicros ? rows : rowAt(untilMicros);
    for (let firstRow = rowAt(fromMicros); firstRow < untilRow; firstRow += LARGEST_PASSAGE_ROWS) {
      const passage = { ...era, firstRow, rows: Math.min(LARGEST_PASSAGE_ROWS, untilRow - firstRow) };
      const timed = { ...passage, cellMicros: cellsOf(passage, calendar, window) };
      yield { ...timed, bursts: burstsOf(timed, weights, cast, calendar, window) };
    }
  }
}

function eras(keys: readonly CastKey[], startMicros: bigint, endMicros: bigint): [bigint, bigint][] {
  const inner = keys
    .flatMap(({ usedFromMicros, expiresAtMicros, usedUntilMicros }) => [
      usedFromMicros ?? startMicros,
      expiresAtMicros ?? startMicros,
      usedUntilMicros ?? startMicros,
    ])
    .filter((micros) => micros > startMicros && micros < endMicros);
  const bounds = [...new Set([startMicros, ...inner, endMicros])].sort((a, b) => (a < b ? -1 : 1));
  return bounds.slice(1).map((until, place) => [bounds[place] as bigint, until]);
}

function cellsOf(
  { firstRow, rows }: Pick<Passage, 'firstRow' | 'rows'>,
  calendar: Calendar,
  window: TrafficWindow,
): bigint[] {
  const startMicros = startMicrosOf(window);
  const cells = Math.min(rows, MOST_CELLS);
  return Array.from({ length: cells + 1 }, (_, cell) => {
    const share = (firstRow + (cell * rows) / cells) / window.rows;
    return startMicros + BigInt(Math.round(calendar.momentOf(share)));
  });
}

function burstsOf(
  { firstRow, rows, expiredKeys }: Omit<Passage, 'bursts'>,
  weights: readonly number[],
  cast: Cast,
  calendar: Calendar,
  window: TrafficWindow,
): Burst[] {
  const { seed } = window;
  const stretchRows = rowsPerStretch(window.rows);
  const startMicros = startMicrosOf(window);
  const candidates = cast.keys.map(({ rateLimitRpm }, place) =>
    rateLimitRpm * BURST_OF_LIMIT_TO <= stretchRows * MOST_OF_STRETCH && !expiredKeys.includes(place)
      ? (weights[place] as number)
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
    const limit = cast.keys[key]?.rateLimitRpm ?? 0;
    const size = Math.ceil(limit * (BURST_OF_LIMIT_FROM + excess));
    if (draw(seed, 'burst at all', stretch) * (size - limit) > THROTTLED_SHARE * stretchRows) continue;
    const first = stretch * stretchRows;
    if (first + size > firstRow + rows) continue;
    const begin = Math.round(calendar.momentOf(first / window.rows));
    const end = Math.round(calendar.momentOf((first + size) / window.rows));
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
