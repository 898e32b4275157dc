import { type Duration, invalid, MAX_BUCKETS } from '@gatehouse/contract';
import type { Window } from '../window.ts';
import { dayOf, startOfDay, type TimeZone, timeZoneFromText, UTC } from './time-zone.ts';

/** The buckets of a window. The first one holds the start of the window, so it may begin before it. */
export interface Buckets {
  /** In seconds since the epoch, ascending. */
  readonly starts: readonly number[];
  readonly zone: TimeZone;
}

const MICROS = 1_000_000n;
const DAY = 86_400;
/** Widths that people use, for the error that suggests one. */
const WIDTHS: readonly (readonly [text: string, seconds: number])[] = [
  ['5s', 5],
  ['30s', 30],
  ['1m', 60],
  ['5m', 300],
  ['15m', 900],
  ['1h', 3_600],
  ['3h', 10_800],
  ['6h', 21_600],
  ['1d', DAY],
];

/**
 * The buckets of a width over a window. A width of whole days means days of the time zone, counted from 1970-01-01: each
 * bucket begins where its first day does, so it is an hour longer or shorter where the clock changes. Other widths are the
 * same in every zone. Throws the 400 that says what is accepted.
 */
export function bucketsOf(window: Window, interval: Duration, timeZone: string | undefined): Buckets {
  const zone = timeZone === undefined ? UTC : timeZoneFromText(timeZone);
  if (!zone) {
    throw rejected(
      'time_zone',
      'Must be an IANA time zone such as Asia/Karachi, or an offset such as +05:00 (in a URL, write + as %2B).',
      'not_a_time_zone',
    );
  }
  const days = interval.seconds / DAY;
  const first = Number(window.fromMicros / MICROS);
  const last = Number(window.toMicros / MICROS);
  const starts: number[] = [];
  const following = Number.isInteger(days) ? inDays(zone, first, days) : aligned(first, interval.seconds);
  for (const start of following) {
    if (start > last) return { starts, zone };
    // A day that the zone skips begins with the day after it.
    if (start === starts.at(-1)) continue;
    starts.push(start);
    if (starts.length > MAX_BUCKETS) break;
  }
  const least = (last - first) / (MAX_BUCKETS - 1);
  const [wider] = WIDTHS.find(([, seconds]) => seconds >= least) ?? ['7d'];
  throw rejected(
    'interval',
    `Must be wider: the window would have more than ${MAX_BUCKETS} buckets. ${wider} is wide enough.`,
    'too_small',
  );
}

function* aligned(first: number, width: number): Generator<number> {
  for (let start = Math.floor(first / width) * width; ; start += width) yield start;
}

function* inDays(zone: TimeZone, first: number, days: number): Generator<number> {
  for (let day = Math.floor(dayOf(zone, first) / days) * days; ; day += days) yield startOfDay(zone, day);
}

function rejected(name: string, msg: string, type: string) {
  return invalid([{ loc: ['query', name], msg, type }]);
}
