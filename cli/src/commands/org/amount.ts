import { codePoints, isStorableText, microPkrFromTyped } from '@gatehouse/contract';
import { invalidValue } from '../../terminal/errors.ts';

// What a deposit and a withdrawal take.

const MAX_NOTE_LENGTH = 500;

/** The amount of --pkr. Throws UsageError for another; `instead` is what to do where it is below 0. */
export function readAmount(text: string, instead?: string): bigint {
  const amount = microPkrFromTyped(text);
  if (typeof amount === 'bigint' && amount > 0n) return amount;
  const expected =
    amount === 'too-large'
      ? 'at most 9007199254.740991 PKR at once'
      : 'an amount of PKR above 0 in plain digits with at most 6 decimals, such as 2500.50';
  throw invalidValue('--pkr', text, amount === 'negative' && instead ? `${expected}; ${instead}` : expected);
}

export function readNote(text: string | undefined): string | null {
  if (text === undefined || text.trim() === '') return null;
  if (isStorableText(text) && codePoints(text) <= MAX_NOTE_LENGTH) return text;
  throw invalidValue('--note', text, `at most ${MAX_NOTE_LENGTH} characters of well-formed Unicode`);
}
