import { invalidValue } from '../../terminal/errors.ts';

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 200;

/** How many rows are wanted. Throws UsageError for another text. */
export function readLimit(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT;
  const limit = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw invalidValue('--limit', text, `a whole number from 1 to ${MAX_LIMIT}`);
}
