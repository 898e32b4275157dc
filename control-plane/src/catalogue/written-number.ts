import { microPkrFromDecimal } from '@gatehouse/contract';
import { z } from 'zod';

/** A number as the file writes it: converting to a double first would lose digits. */
export class WrittenNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const writtenNumber = z.instanceof(WrittenNumber, { error: 'must be a number' });

/** An amount of PKR, read as micro-PKR: a whole number, exactly what the file says. */
export const amount = writtenNumber.transform(({ text }, context) => {
  const micro = microPkrFromDecimal(text);
  if (typeof micro === 'bigint') return micro;
  const expected =
    micro === 'too-large'
      ? 'at most 9007199254.740991'
      : 'a decimal number of at least 0 with at most 6 decimals';
  context.addIssue({ code: 'custom', message: `is ${text} and must be ${expected}` });
  return z.NEVER;
});

/** A percentage, read as millionths: five percent is 50,000; four decimals of a percent are the finest step. */
export const percent = writtenNumber.transform(({ text }, context) => {
  const micro = microPkrFromDecimal(text);
  if (typeof micro === 'bigint' && micro <= 100_000_000n && micro % 100n === 0n) return micro / 100n;
  context.addIssue({
    code: 'custom',
    message: `is ${text} and must be from 0 to 100 with at most 4 decimals`,
  });
  return z.NEVER;
});
