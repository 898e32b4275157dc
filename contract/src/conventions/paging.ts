import { z } from 'zod';

export const DEFAULT_PAGE_SIZE = 50;
export const MAX_PAGE_SIZE = 200;

/** Rows to return: blank means 50, more than 200 means 200. */
export function limit() {
  return wholeNumber({ min: 1, fallback: DEFAULT_PAGE_SIZE, words: 'an integer of at least 1' })
    .transform((value) => Math.min(value, MAX_PAGE_SIZE))
    .meta({
      description: `Rows in the page; ${DEFAULT_PAGE_SIZE} unless given, ${MAX_PAGE_SIZE} at most (a larger number is lowered to it).`,
      example: 50,
    });
}

/** Rows to skip: blank means none. */
export function offset() {
  return wholeNumber({ min: 0, fallback: 0, words: 'an integer of at least 0' }).meta({
    description: 'Rows to skip before the page; 0 unless given.',
    example: 0,
  });
}

// Up to 2^53 - 1; past it no store holds as many rows, and a number would no longer be exact.
function wholeNumber(form: { min: number; fallback: number; words: string }) {
  return z
    .string()
    .refine(
      (value) =>
        /^[0-9]{1,16}$/.test(value) && Number(value) >= form.min && Number(value) <= Number.MAX_SAFE_INTEGER,
      {
        error: `Must be ${form.words}, up to ${Number.MAX_SAFE_INTEGER}.`,
        params: { type: 'not_an_integer' },
      },
    )
    .transform(Number)
    .default(form.fallback);
}
