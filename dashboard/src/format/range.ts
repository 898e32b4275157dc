/** The window of time that a page shows: back from now, or from one moment to another. */
export type TimeRange =
  | { readonly kind: 'relative'; readonly text: string }
  | { readonly kind: 'fixed'; readonly from: string; readonly to: string | undefined };

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** The longest window that the API accepts. */
const MAX_DAYS = 3650;

export const DEFAULT_RANGE: TimeRange = { kind: 'relative', text: '24h' };

/** The windows offered with one click. */
export const PRESETS: readonly { readonly text: string; readonly label: string }[] = [
  { text: '15m', label: 'Last 15 minutes' },
  { text: '1h', label: 'Last hour' },
  { text: '6h', label: 'Last 6 hours' },
  { text: '24h', label: 'Last 24 hours' },
  { text: '7d', label: 'Last 7 days' },
  { text: '30d', label: 'Last 30 days' },
  { text: '90d', label: 'Last 90 days' },
];

/** The milliseconds of `15m`, `24h`, `30d`; undefined for anything else and for windows beyond the limit of the API. */
export function durationMs(text: string): number | undefined {
  const match = /^([1-9]\d{0,9})([smhd])$/.exec(text);
  if (!match) return undefined;
  const ms = Number(match[1]) * (UNIT_MS[match[2] ?? ''] ?? Number.NaN);
  return ms <= MAX_DAYS * 86_400_000 ? ms : undefined;
}

/** A moment as RFC 3339 in UTC; undefined for what is none. */
function moment(text: unknown): string | undefined {
  if (typeof text !== 'string' || !/^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(text)) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

/** The range in the parameters of a URL, which anyone may have written. What is invalid counts as absent. */
export function parseRange(search: Readonly<Record<string, unknown>>): TimeRange | undefined {
  const from = moment(search['from']);
  if (from !== undefined) {
    const to = moment(search['to']);
    if (to === undefined || to > from) return { kind: 'fixed', from, to };
  }
  const text = search['range'];
  return typeof text === 'string' && durationMs(text) !== undefined ? { kind: 'relative', text } : undefined;
}

/** The parameters of a URL for a range. */
export function rangeSearch(range: TimeRange): { range?: string; from?: string; to?: string } {
  if (range.kind === 'relative') return { range: range.text };
  return { from: range.from, ...(range.to === undefined ? {} : { to: range.to }) };
}

/** The query of the API for a range. */
export function rangeQuery(range: TimeRange): { time_range?: string; from?: string; to?: string } {
  if (range.kind === 'relative') return { time_range: range.text };
  return { from: range.from, ...(range.to === undefined ? {} : { to: range.to }) };
}

/** How long a range is, in milliseconds. */
export function rangeMs(range: TimeRange, now: number): number {
  if (range.kind === 'relative') return durationMs(range.text) ?? 86_400_000;
  return (range.to === undefined ? now : Date.parse(range.to)) - Date.parse(range.from);
}

/** Its first and last moment. */
export function rangeBounds(range: TimeRange, now: number): { fromMs: number; toMs: number } {
  if (range.kind === 'relative') return { fromMs: now - rangeMs(range, now), toMs: now };
  return { fromMs: Date.parse(range.from), toMs: range.to === undefined ? now : Date.parse(range.to) };
}
