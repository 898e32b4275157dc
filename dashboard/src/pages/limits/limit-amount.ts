import { readAmount } from '../../format/amount-text.ts';

export type LimitAmount =
  | { readonly kind: 'amount'; readonly pkr: number }
  | { readonly kind: 'problem'; readonly sentence: string };

/** The largest amount whose six decimals a JSON number still tells. */
const MAX_PKR = 4_000_000_000;

/** The text that a person enters as the amount of a limit, 0 included. */
export function limitAmount(text: string): LimitAmount {
  const read = readAmount(text);
  if (read.kind === 'problem') return read;
  const pkr = Number(read.decimal);
  if (pkr > MAX_PKR) return { kind: 'problem', sentence: 'The largest limit is PKR 4,000,000,000.' };
  return { kind: 'amount', pkr };
}
