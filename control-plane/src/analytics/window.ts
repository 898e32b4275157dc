import { type Duration, type Issue, invalid, MAX_TIME_RANGE, timestampWithZ } from '@gatehouse/contract';

/** Both ends belong to the window; microseconds since the epoch. */
export interface Window {
  readonly fromMicros: bigint;
  readonly toMicros: bigint;
}

/** The parameters of a window, parsed. `from` and `to` are microseconds since the epoch. */
export interface WindowQuery {
  readonly time_range?: Duration | undefined;
  readonly from?: bigint | undefined;
  readonly to?: bigint | undefined;
}

const MICROS = 1_000_000n;
const DEFAULT_SECONDS = 86_400;
const DEFAULT_TEXT = '24h';
const MAX_MICROS = BigInt(MAX_TIME_RANGE.seconds) * MICROS;
/** The first moment of the year 2100. The engine's hours are 32-bit seconds since the epoch. */
const END_OF_TIMES = 4_102_444_800n * MICROS;

/** The window of a request: `time_range` until now, or from `from` until before `to`. Throws the 400 that says why not. */
export function windowOf({ time_range, from, to }: WindowQuery, nowMicros: bigint): Window {
  if (from === undefined) {
    if (to !== undefined) throw rejected('from', 'Required with to: the start of the window.', 'missing');
    const seconds = time_range?.seconds ?? DEFAULT_SECONDS;
    return { fromMicros: nowMicros - BigInt(seconds) * MICROS, toMicros: nowMicros };
  }
  if (time_range !== undefined) {
    throw rejected('time_range', 'Is not accepted with from; send one of the two.', 'not_accepted');
  }
  const end = to ?? nowMicros + 1n;
  if (from < 0n || end > END_OF_TIMES) {
    const name = from < 0n ? 'from' : 'to';
    throw rejected(name, 'Must be in the years 1970 to 2099 (to: or their end), UTC.', 'out_of_range');
  }
  if (from >= end) {
    throw to === undefined
      ? rejected('from', 'Must be in the past, because the window ends now. Send to as well.', 'too_large')
      : rejected('to', 'Must be after from.', 'too_small');
  }
  if (end - from > MAX_MICROS)
    throw rejected('from', 'Must be at most 3650 days before the end of the window.', 'too_small');
  return { fromMicros: from, toMicros: end - 1n };
}

/** The window as replies state it: the end is exclusive, so that sending it again gives the same window. */
export function windowFields({ fromMicros, toMicros }: Window) {
  return { from: timestampWithZ(fromMicros), to: timestampWithZ(toMicros + 1n) };
}

/** The window in the name of a file: `24h`, or its ends, as `20261101T000000Z-20261201T000000Z`. */
export function windowName({ time_range, from }: WindowQuery, window: Window): string {
  if (from === undefined) return time_range?.text ?? DEFAULT_TEXT;
  const ends = windowFields(window);
  return [ends.from, ends.to].map((end) => end.replace(/\.\d+/, '').replaceAll(/[-:]/g, '')).join('-');
}

function rejected(name: keyof WindowQuery, msg: string, type: string) {
  const issue: Issue = { loc: ['query', name], msg, type };
  return invalid([issue]);
}
