import { invalidValue } from '../../terminal/errors.ts';

/** The PKR of a dollar. Throws UsageError for what is no such amount. */
export function readUsdRate(text: string): number {
  const rate = /^[0-9]{1,7}(?:\.[0-9]{1,6})?$/.test(text) ? Number(text) : 0;
  if (rate > 0) return rate;
  throw invalidValue('--usd-pkr', text, 'how many PKR a dollar is, such as 281.50');
}
