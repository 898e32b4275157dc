import { z } from 'zod';

export const DEFAULT_PAGE_SIZE = 50;
export const MAX_PAGE_SIZE = 200;

/** Rows to return: 50 by default, 200 at most; a higher number is lowered to 200. */
export function limit() {
  return z
    .string()
    .refine((value) => /^0*[1-9][0-9]*$/.test(value), {
      error: 'Must be an integer of at least 1.',
      params: { type: 'not_an_integer' },
    })
    .transform((value) => Math.min(Number(value), MAX_PAGE_SIZE))
    .default(DEFAULT_PAGE_SIZE)
    .meta({
      type: 'integer',
      minimum: 1,
      default: DEFAULT_PAGE_SIZE,
      description: `Rows in the page; more than ${MAX_PAGE_SIZE} is lowered to ${MAX_PAGE_SIZE}.`,
      example: 50,
    });
}

/** Rows to skip, none by default. At most 2^53 - 1, beyond which a number is not exact. */
export function offset() {
  return z
    .string()
    .refine((value) => /^[0-9]+$/.test(value) && Number(value) <= Number.MAX_SAFE_INTEGER, {
      error: `Must be an integer from 0 to ${Number.MAX_SAFE_INTEGER}.`,
      params: { type: 'not_an_integer' },
    })
    .transform(Number)
    .default(0)
    .meta({
      type: 'integer',
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 0,
      description: 'Rows to skip before the page.',
      example: 0,
    });
}
