import { z } from 'zod';
import {
  type AmountError,
  decimalFromMicroPkr,
  MAX_AMOUNT_MICRO_PKR,
  microPkrFromDecimal,
} from '../conventions/money.ts';
import { NumberText, readsNumberText } from '../conventions/number-text.ts';
import { text } from '../conventions/text.ts';
import { epochMicrosFromTimestamp, TIMESTAMP_IN_WORDS } from '../conventions/time.ts';
import { MAX_EMAIL_LENGTH } from '../limits.ts';

// Fields that several endpoints share.

/** An instant of a control-plane record. */
export function timestamp() {
  return z.iso.datetime({ offset: true, local: false }).meta({
    description: 'ISO 8601 with a numeric offset.',
    example: '2026-11-20T10:15:30.123456+00:00',
  });
}

/** An instant from a caller, read as epoch microseconds. */
export function instant() {
  return text()
    .transform((value, context) => {
      const epochMicros = epochMicrosFromTimestamp(value);
      if (epochMicros !== undefined) return epochMicros;
      context.addIssue({
        code: 'custom',
        message: `Must be ${TIMESTAMP_IN_WORDS}.`,
        params: { type: 'not_a_timestamp' },
      });
      return z.NEVER;
    })
    .meta({ format: 'date-time' });
}

// An address has one spelling: trimmed, lower-case, ASCII. Look-alikes (U+212A for k) are rejected, not folded.
const EMAIL = /^[^\s@"(),:;<>[\\\]]+@[^\s@"(),:;<>[\\\]]+$/;

/** A text that may be an e-mail address, in its one spelling. */
export function emailText() {
  return text()
    .transform((value) => value.trim())
    .refine(isAscii, { error: 'Must hold printable ASCII characters only.', params: { type: 'not_ascii' } })
    .transform((value) => value.toLowerCase());
}

/** An e-mail address. */
export function emailAddress() {
  return emailText()
    .refine((value) => !isAscii(value) || (EMAIL.test(value) && !/\.\.|^\.|\.@|@\.|\.$/.test(value)), {
      error: 'Must be an e-mail address, for example name@example.com.',
      params: { type: 'not_an_email' },
    })
    .refine((value) => value.length <= MAX_EMAIL_LENGTH, {
      error: `Must have at most ${MAX_EMAIL_LENGTH} characters.`,
      params: { type: 'too_long' },
    })
    .meta({
      format: 'email',
      maxLength: MAX_EMAIL_LENGTH,
      description: 'ASCII. Trimmed and lower-cased.',
      example: 'ada@example.com',
    });
}

function isAscii(value: string): boolean {
  // Control characters are ASCII too, but not part of an address.
  return /^[\u0020-\u007e]*$/.test(value);
}

/** An integer of any size. The endpoint's rules reject what is too large, because they know the limit to name. */
export function wholeNumber() {
  return z
    .number()
    .refine((value) => Number.isInteger(value), {
      error: 'Must be an integer.',
      params: { type: 'wrong_type' },
    })
    .meta({ type: 'integer' });
}

const MAX_AMOUNT_PKR = decimalFromMicroPkr(MAX_AMOUNT_MICRO_PKR);

const AMOUNT_ERRORS: Readonly<Record<AmountError, readonly [msg: string, type: string]>> = {
  'not-a-decimal': ['Must have at most 400 digits on either side of the point.', 'too_precise'],
  negative: ['Must be at least 0.', 'too_small'],
  'too-precise': ['Must have at most 6 decimals.', 'too_precise'],
  'too-large': [`Must be at most ${MAX_AMOUNT_PKR}.`, 'too_large'],
};

/** A number of PKR, read as micro-PKR digit by digit. */
function microPkrOf(value: unknown, context: z.RefinementCtx): bigint {
  const given = typeof value === 'number' ? new NumberText(String(value)) : value;
  const amount = given instanceof NumberText ? microPkrFromDecimal(given.text) : undefined;
  if (typeof amount === 'bigint') return amount;
  const [message, type] = amount === undefined ? ['Must be a number.', 'wrong_type'] : AMOUNT_ERRORS[amount];
  context.addIssue({ code: 'custom', message, params: { type } });
  return z.NEVER;
}

/** An amount from a caller, which may be 0. */
export function requiredPkrAmount({ description }: { description: string }) {
  return z
    .unknown()
    .refine((value) => value !== undefined, {
      error: 'Required: a number.',
      params: { type: 'missing' },
      abort: true,
    })
    .transform(microPkrOf)
    .meta({ type: 'number', minimum: 0, description })
    .register(readsNumberText, { isNumberText: true });
}

/** An amount from a caller, which may be 0 or not be given. */
export function optionalPkrAmount({ description }: { description: string }) {
  return z
    .unknown()
    .optional()
    .transform((value, context) => (value === undefined ? undefined : microPkrOf(value, context)))
    .meta({ type: 'number', minimum: 0, description })
    .register(readsNumberText, { isNumberText: true });
}

/** An amount from a caller; 0, null and nothing are all null. */
export function pkrAmount({ description }: { description: string }) {
  return z
    .unknown()
    .optional()
    .transform((value, context): bigint | null =>
      value === null || value === undefined ? null : microPkrOf(value, context) || null,
    )
    .meta({
      anyOf: [{ type: 'number', minimum: 0 }, { type: 'null' }],
      description,
    })
    .register(readsNumberText, { isNumberText: true });
}

/** An amount of PKR in a reply, as a number. */
export function pkr(description: string) {
  return z.number().meta({ description, example: 12.5 });
}

/** The member who made something; null for an operator, and for a member who is gone. */
export function creator() {
  return z.strictObject({ id: z.uuid(), email: z.string() }).nullable();
}

/** An id with its current name; null where it was deleted. */
export function named() {
  return z.strictObject({ id: z.uuid(), name: z.string().nullable() }).nullable();
}
