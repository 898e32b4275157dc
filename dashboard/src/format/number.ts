const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });

/** `12,345`. */
export function count(value: number): string {
  return whole.format(value);
}

/** `12.3K` from ten thousand on, for figures and axes; the whole number is in the title. */
export function countShort(value: number): string {
  return Math.abs(value) < 10_000 ? rate(value) : compact.format(value);
}

/** With as many decimals as a small number needs: `0.35`, `7.2`, `84`. */
export function rate(value: number): string {
  const size = Math.abs(value);
  const digits = size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : 2;
  return value.toLocaleString('en', { maximumFractionDigits: digits });
}

/** A share of one as a percentage: `2.58 %`, `0.004 %`, `12 %`. A share that is not zero is never shown as zero. */
export function percent(share: number): string {
  const value = share * 100;
  const size = Math.abs(value);
  if (size === 0) return '0 %';
  if (size < 0.001) return `${value < 0 ? '> −' : '< '}0.001 %`;
  return `${value.toLocaleString('en', { maximumSignificantDigits: size >= 10 ? 3 : 2 })} %`;
}

/** `1 request`, `2 requests`, `1,000 keys`. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** `1.4 MB`. */
export function bytes(value: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  const index = value < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log(value) / Math.log(1000)));
  return `${rate(value / 1000 ** index)} ${units[index]}`;
}

/** Steps between counts on an axis: whole numbers, so that there is no 2.5th request. */
export const COUNT_STEPS: readonly number[] = Array.from({ length: 13 }, (_, power) =>
  [1, 2, 5].map((n) => n * 10 ** power),
).flat();
