import { viewerZone } from './zone.ts';

// Every time is shown in the viewer's zone, and in UTC on hover. Zones are arguments so that tests can travel.

const formats = new Map<string, Intl.DateTimeFormat>();

function format(zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = zone + JSON.stringify(options);
  const known = formats.get(key);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-GB', { timeZone: zone, hourCycle: 'h23', ...options });
  formats.set(key, made);
  return made;
}

/** Made once: making one takes longer than all else in a row of a table. */
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' });

const DAY: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short' };
const CLOCK: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit' };

/** `22 Nov 2026, 19:47:06`. */
export function dateTime(at: Date, zone = viewerZone): string {
  return format(zone, { ...DAY, year: 'numeric', ...CLOCK, second: '2-digit' }).format(at);
}

/** `22 Nov, 19:47`; the year where it is not this one. */
export function dateTimeShort(at: Date, now: Date, zone = viewerZone): string {
  return format(zone, { ...DAY, ...yearIfOther(at, now, zone), ...CLOCK }).format(at);
}

/** `22 Nov`; the year where it is not this one. */
export function day(at: Date, now: Date, zone = viewerZone): string {
  return format(zone, { ...DAY, ...yearIfOther(at, now, zone) }).format(at);
}

/** `19:47`, or `19:47:06`. */
export function clock(at: Date, zone = viewerZone, withSeconds = false): string {
  return format(zone, withSeconds ? { ...CLOCK, second: '2-digit' } : CLOCK).format(at);
}

/** `2026-11-22 14:47:06 UTC`, to the millisecond where it has one. */
export function utc(at: Date): string {
  return `${at.toISOString().replace('T', ' ').replace('.000Z', '').replace('Z', '')} UTC`;
}

function yearIfOther(at: Date, now: Date, zone: string): Intl.DateTimeFormatOptions {
  const year = format(zone, { year: 'numeric' });
  return year.format(at) === year.format(now) ? {} : { year: 'numeric' };
}

/** `just now`, `5 minutes ago`, `in 3 days`. */
export function ago(at: Date, now: Date): string {
  const seconds = Math.round((at.getTime() - now.getTime()) / 1000);
  if (Math.abs(seconds) < 10) return 'just now';
  const steps: readonly (readonly [limit: number, size: number, unit: Intl.RelativeTimeFormatUnit])[] = [
    [60, 1, 'second'],
    [3600, 60, 'minute'],
    [86_400, 3600, 'hour'],
    [2_592_000, 86_400, 'day'],
    [31_536_000, 2_592_000, 'month'],
    [Number.POSITIVE_INFINITY, 31_536_000, 'year'],
  ];
  const [, size, unit] = steps.find(([limit]) => Math.abs(seconds) < limit) ?? [0, 1, 'second' as const];
  return relative.format(Math.trunc(seconds / size), unit);
}

/** A bucket of a chart in words: `Sun 22 Nov, 19:00–20:00`, `Sun 22 Nov`. Days are those of the zone. */
export function bucketLabel(start: Date, widthMs: number, zone = viewerZone): string {
  const weekday: Intl.DateTimeFormatOptions = { weekday: 'short', ...DAY };
  if (widthMs >= 86_400_000) {
    const first = format(zone, weekday).format(start);
    // A day on which the clocks change has 23 or 25 hours: the middle of the last day is in it either way.
    const last = format(zone, weekday).format(new Date(start.getTime() + widthMs - 43_200_000));
    return first === last ? first : `${first} – ${last}`;
  }
  const seconds = widthMs < 60_000;
  const end = new Date(start.getTime() + widthMs);
  return `${format(zone, weekday).format(start)}, ${clock(start, zone, seconds)}–${clock(end, zone, seconds)}`;
}
