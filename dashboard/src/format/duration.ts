import { plural } from './number.ts';

/** Steps between times, in milliseconds, that read well on an axis: 1, 2, 5, 10 … ms, then parts of minutes and hours. */
export const DURATION_STEPS: readonly number[] = [
  ...[0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000],
  ...[60_000, 120_000, 300_000, 600_000, 1_200_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 86_400_000],
];

/** A time in milliseconds as it is read: `0.4 ms`, `84 ms`, `1.99 s`, `2 min 5 s`, `3 h 10 min`, `4 d 2 h`. */
export function duration(ms: number): string {
  if (ms < 0) return `−${duration(-ms)}`;
  if (ms === 0) return '0 ms';
  if (ms < 10) return `${trimmed(ms, 1)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 9_995) return `${trimmed(ms / 1000, 2)} s`;
  if (ms < 59_950) return `${trimmed(ms / 1000, 1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return two(Math.floor(seconds / 60), 'min', seconds % 60, 's');
  const minutes = Math.round(seconds / 60);
  if (minutes < 1440) return two(Math.floor(minutes / 60), 'h', minutes % 60, 'min');
  const hours = Math.round(minutes / 60);
  return two(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

/** How long something lasts about, in one unit: `about 16 days`, `less than an hour`, `more than a year`. */
export function roughDuration(ms: number): string {
  const hours = ms / 3_600_000;
  if (hours < 1) return 'less than an hour';
  if (hours < 48) return `about ${plural(Math.round(hours), 'hour')}`;
  const days = hours / 24;
  if (days < 60) return `about ${plural(Math.round(days), 'day')}`;
  return days < 365 ? `about ${plural(Math.round(days / 30.4), 'month')}` : 'more than a year';
}

function trimmed(value: number, digits: number): string {
  return String(Number(value.toFixed(digits)));
}

function two(first: number, unit: string, second: number, smaller: string): string {
  return second === 0 ? `${first} ${unit}` : `${first} ${unit} ${second} ${smaller}`;
}
