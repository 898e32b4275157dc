import { PRESETS, type TimeRange } from './range.ts';
import { dateTimeShort } from './time.ts';

const UNITS: Readonly<Record<string, string>> = { s: 'second', m: 'minute', h: 'hour', d: 'day' };

/** `Last 24 hours`; `20 Nov, 00:00 – 22 Nov, 19:47`. */
export function rangeLabel(range: TimeRange, now: Date, zone?: string): string {
  if (range.kind === 'relative') {
    const preset = PRESETS.find(({ text }) => text === range.text);
    if (preset) return preset.label;
    const amount = Number.parseInt(range.text, 10);
    const unit = UNITS[range.text.at(-1) ?? ''] ?? '';
    return amount === 1 ? `Last ${unit}` : `Last ${amount} ${unit}s`;
  }
  const from = dateTimeShort(new Date(range.from), now, zone);
  return range.to === undefined
    ? `Since ${from}`
    : `${from} – ${dateTimeShort(new Date(range.to), now, zone)}`;
}
