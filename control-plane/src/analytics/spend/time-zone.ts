/** A time zone, by the names and rules of Node's ICU. */
export interface TimeZone {
  readonly name: string;
  /** The offset from UTC at an instant; both in seconds. */
  offsetAt(epochSeconds: number): number;
}

const MAX_NAME_LENGTH = 64;
const DAY = 86_400;

export const UTC: TimeZone = { name: 'UTC', offsetAt: () => 0 };

/**
 * Reads an IANA name (any case, aliases too) or an offset such as `+05:30`. Undefined for anything else. The name is looked
 * up in ICU's list and goes nowhere else.
 */
export function timeZoneFromText(text: string): TimeZone | undefined {
  if (text.length > MAX_NAME_LENGTH) return undefined;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', { timeZone: text, timeZoneName: 'longOffset' });
  } catch {
    return undefined;
  }
  return {
    name: text,
    offsetAt(epochSeconds) {
      // GMT, GMT-03:30, or with seconds, as in Liberia until 1972.
      const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(format.format(epochSeconds * 1000));
      if (!match) throw new Error(`no offset for the time zone ${text}`);
      const [, sign, hours = 0, minutes = 0, seconds = 0] = match;
      const offset = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
      return sign === '-' ? -offset : offset;
    },
  };
}

/** The day of an instant in the zone, as days since 1970-01-01. */
export function dayOf(zone: TimeZone, epochSeconds: number): number {
  return Math.floor((epochSeconds + zone.offsetAt(epochSeconds)) / DAY);
}

/**
 * The first second of a day in the zone. That is midnight, or the end of a change of the clock where midnight is skipped;
 * where midnight comes twice, the first one. A day that the zone skips begins with the next day.
 */
export function startOfDay(zone: TimeZone, day: number): number {
  const midnight = day * DAY;
  const localAt = (instant: number) => instant + zone.offsetAt(instant);
  const likely = midnight - zone.offsetAt(midnight);
  if (localAt(likely) === midnight && localAt(likely - 1) === midnight - 1) return likely;
  // The clock changes nearby. No zone is more than 15 hours from UTC.
  let before = midnight - 15 * 3600;
  let from = midnight + 15 * 3600;
  while (from - before > 1) {
    const middle = Math.floor((before + from) / 2);
    if (localAt(middle) < midnight) before = middle;
    else from = middle;
  }
  return from;
}

/** Formats an instant as `2026-03-29T00:00:00+01:00`. */
export function timestampInZone(zone: TimeZone, epochSeconds: number): string {
  const offset = zone.offsetAt(epochSeconds);
  const minutes = Math.floor(Math.abs(offset) / 60);
  const sign = offset < 0 ? '-' : '+';
  const pad = (value: number) => String(value).padStart(2, '0');
  const local = new Date((epochSeconds + offset) * 1000).toISOString().slice(0, 19);
  return `${local}${sign}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`;
}
