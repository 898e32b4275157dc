/** Widths of buckets that people read easily, ascending. */
const INTERVALS: readonly (readonly [text: string, ms: number])[] = [
  ['1s', 1000],
  ['5s', 5000],
  ['10s', 10_000],
  ['15s', 15_000],
  ['30s', 30_000],
  ['1m', 60_000],
  ['5m', 300_000],
  ['10m', 600_000],
  ['15m', 900_000],
  ['30m', 1_800_000],
  ['1h', 3_600_000],
  ['3h', 10_800_000],
  ['6h', 21_600_000],
  ['12h', 43_200_000],
  ['1d', 86_400_000],
  ['7d', 604_800_000],
  ['14d', 1_209_600_000],
];

export interface Interval {
  readonly text: string;
  readonly ms: number;
  /** True if buckets are days, which begin at midnight of the viewer. */
  readonly isDays: boolean;
}

/**
 * The narrowest width that gives at most `mostPoints`. By default a chart has 60 to 300 points. Bars are fewer.
 */
export function pickInterval(windowMs: number, mostPoints = 200): Interval {
  const found = INTERVALS.find(([, ms]) => windowMs / ms <= mostPoints) ?? INTERVALS.at(-1);
  const [text, ms] = found ?? ['1d', 86_400_000];
  return { text, ms, isDays: text.endsWith('d') };
}

/** The query of the API for an interval: the zone belongs to whole days only. */
export function intervalQuery(interval: Interval, zone: string): { interval: string; time_zone?: string } {
  return { interval: interval.text, ...(interval.isDays ? { time_zone: zone } : {}) };
}

/** `5 minutes`, `1 day`: for the caption of a chart. */
export function intervalLabel({ text }: Interval): string {
  const count = Number.parseInt(text, 10);
  const unit = { s: 'second', m: 'minute', h: 'hour', d: 'day' }[text.at(-1) ?? ''] ?? '';
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
