import { browserZone } from '../browser/intl.ts';

/** The time zone of the viewer, by its IANA name. Days are counted in it, and the API receives it as `time_zone`. */
export const viewerZone: string = browserZone.name;

const DAY_MS = 86_400_000;

/** How far a zone is ahead of UTC at a moment, in minutes. Zones differ by quarters of an hour, and over the year. */
export function zoneOffsetMinutes(zone: string, at: Date): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(at);
  const part = (type: Intl.DateTimeFormatPartTypes) =>
    Number(parts.find((candidate) => candidate.type === type)?.value ?? 0);
  const wall = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  );
  return Math.round((wall - Math.floor(at.getTime() / 1000) * 1000) / 60_000);
}

/**
 * The moment when the clocks of a zone show `2026-12-01T09:30`: the first of two, where they are put back; an hour later by them,
 * where they are put forward. Undefined for what is no date and time.
 */
export function momentInZone(text: string, zone: string): Date | undefined {
  const [shown] = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.exec(text) ?? [];
  const wall = Date.parse(`${shown}Z`);
  if (Number.isNaN(wall)) return undefined;
  const offsetMs = (ms: number) => zoneOffsetMinutes(zone, new Date(ms)) * 60_000;
  const [before, after] = [wall - offsetMs(wall - DAY_MS), wall - offsetMs(wall + DAY_MS)];
  return new Date([before, after].find((ms) => ms + offsetMs(ms) === wall) ?? before);
}

/** `UTC+05:00`, `UTC−03:30`, `UTC`. */
export function offsetLabel(minutes: number): string {
  if (minutes === 0) return 'UTC';
  const absolute = Math.abs(minutes);
  const hours = String(Math.floor(absolute / 60)).padStart(2, '0');
  return `UTC${minutes < 0 ? '−' : '+'}${hours}:${String(absolute % 60).padStart(2, '0')}`;
}

/** `Karachi, UTC+05:00`; `UTC`. */
export function zoneLabel(zone: string, at: Date): string {
  const offset = offsetLabel(zoneOffsetMinutes(zone, at));
  const city = zone.slice(zone.lastIndexOf('/') + 1).replaceAll('_', ' ');
  return city === 'UTC' || !zone.includes('/') ? offset : `${city}, ${offset}`;
}
