// Instants are epoch microseconds in a bigint, or ISO text; Date has only milliseconds and accepts 31 February.

const MICROS_PER_SECOND = 1_000_000n;

const SECONDS_PER_DAY = 86_400;

/** The first second of the year 1, in epoch seconds. */
const MIN_EPOCH_SECONDS = -62_135_596_800;
const MIN_EPOCH_MICROS = BigInt(MIN_EPOCH_SECONDS) * MICROS_PER_SECOND;
/** The last second of the year 9999, in epoch seconds. */
export const MAX_EPOCH_SECONDS = 253_402_300_799;

export const TIMESTAMP_IN_WORDS =
  'an RFC 3339 timestamp with an offset, for example 2027-01-31T09:30:00+05:00 or 2027-01-31T04:30:00Z';

/**
 * Reads an RFC 3339 timestamp as epoch microseconds. Undefined for anything else: a date that does not exist, a
 * missing offset, a leap second, a year outside 0001 to 9999 once in UTC. Decimals beyond the sixth are dropped.
 */
export function epochMicrosFromTimestamp(text: string): bigint | undefined {
  const match =
    /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/.exec(
      text,
    );
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const offsetHour = Number(match[9] ?? 0);
  const offsetMinute = Number(match[10] ?? 0);
  if (hour > 23 || minute > 59 || second > 59 || offsetHour > 23 || offsetMinute > 59) return undefined;
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;

  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const offsetSeconds = (offsetHour * 3600 + offsetMinute * 60) * (match[8] === '-' ? -1 : 1);
  const seconds = date.getTime() / 1000 + hour * 3600 + minute * 60 + second - offsetSeconds;
  if (seconds < MIN_EPOCH_SECONDS || seconds > MAX_EPOCH_SECONDS) return undefined;
  const micros = BigInt((match[7] ?? '').padEnd(6, '0').slice(0, 6));
  return BigInt(seconds) * MICROS_PER_SECOND + micros;
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** Formats an instant as in control-plane records: `2026-11-20T10:15:30.123456+00:00`. */
export function timestampWithOffset(epochMicros: bigint): string {
  return `${isoMicros(epochMicros)}+00:00`;
}

/** Formats an instant as in the request log: `2026-11-20T10:15:30.123456Z`. */
export function timestampWithZ(epochMicros: bigint): string {
  return `${isoMicros(epochMicros)}Z`;
}

function isoMicros(epochMicros: bigint): string {
  // Counted from the year 1 every instant is positive, and its last six digits are the microseconds.
  const micros = epochMicros - MIN_EPOCH_MICROS;
  const digits = micros.toString().padStart(7, '0');
  const seconds = Number(digits.slice(0, -6)) + MIN_EPOCH_SECONDS;
  if (micros < 0n || seconds > MAX_EPOCH_SECONDS)
    throw new RangeError(`${epochMicros} µs lies outside the years 1 to 9999`);
  const day = Math.floor(seconds / SECONDS_PER_DAY);
  const second = seconds - day * SECONDS_PER_DAY;
  const time = `${twoDigits(second / 3600)}:${twoDigits((second / 60) % 60)}:${twoDigits(second % 60)}`;
  return `${dateOfDay(day)}T${time}.${digits.slice(-6)}`;
}

const TWO_DIGITS = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, '0'));

function twoDigits(value: number): string {
  return TWO_DIGITS[Math.floor(value)] ?? '';
}

// Formatting a date is half the cost of writing a row of the request log, and neighbouring rows are mostly of one day.
let latest = { day: 0, date: '1970-01-01' };

function dateOfDay(day: number): string {
  if (day !== latest.day)
    latest = { day, date: new Date(day * SECONDS_PER_DAY * 1000).toISOString().slice(0, 10) };
  return latest.date;
}

/** A lookback window or a bucket width: as applied (`24h`) and in seconds. */
export interface Duration {
  readonly text: string;
  readonly seconds: number;
}

/** The longest lookback window; a longer one is reduced to it. */
export const MAX_TIME_RANGE: Duration = { text: '3650d', seconds: 3650 * 86_400 };

export const DURATION_IN_WORDS = '1 to 12 digits, at least 1, followed by s, m, h or d, for example 24h';

const UNIT_SECONDS = { s: 1n, m: 60n, h: 3_600n, d: 86_400n };

/** Reads `<integer><s|m|h|d>`; undefined for anything else. More than 3650 days becomes 3650 days. */
export function durationFromText(text: string): Duration | undefined {
  const seconds = secondsFromText(text);
  if (seconds === undefined) return undefined;
  if (seconds > BigInt(MAX_TIME_RANGE.seconds)) return MAX_TIME_RANGE;
  return { text, seconds: Number(seconds) };
}

/**
 * Reads a bucket width in the same format, of any length. Its seconds are limited to a width at which one bucket from 1970
 * on holds every instant.
 */
export function bucketWidthFromText(text: string): Duration | undefined {
  const seconds = secondsFromText(text);
  if (seconds === undefined) return undefined;
  return { text, seconds: Math.min(Number(seconds), MAX_EPOCH_SECONDS + 1) };
}

function secondsFromText(text: string): bigint | undefined {
  const match = /^([0-9]{1,12})([smhd])$/.exec(text);
  if (!match) return undefined;
  const seconds = BigInt(match[1] as string) * UNIT_SECONDS[match[2] as keyof typeof UNIT_SECONDS];
  return seconds === 0n ? undefined : seconds;
}
