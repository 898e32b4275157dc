import { z } from 'zod';
import { idReference } from '../conventions/id.ts';
import { microPkrCeiling } from '../conventions/money.ts';
import { DURATION_IN_WORDS, type Duration, durationFromText } from '../conventions/time.ts';
import type { ErrorCase } from '../endpoint.ts';
import { MAX_GROUPS } from '../limits.ts';
import { instant } from './fields.ts';

// Parameters and errors that the endpoints of analytics share.

export const TERMINATION_REASONS = [
  'success',
  'proxy_guillotine',
  'client_disconnect',
  'upstream_stream_aborted',
] as const;

export type TerminationReason = (typeof TERMINATION_REASONS)[number];

export const STATUS_CATEGORIES = ['2xx', '3xx', '4xx', '5xx'] as const;

/** The value of `error_code` that stands for every one. */
export const ANY_ERROR = 'any';

/** A lookback window or a bucket width. */
export function duration(fallback: string, read: (text: string) => Duration | undefined) {
  return z.string().default(fallback).transform(durationIn(read));
}

function durationIn(read: (text: string) => Duration | undefined) {
  return (value: string, context: z.RefinementCtx): Duration => {
    const parsed = read(value);
    if (parsed) return parsed;
    context.addIssue({
      code: 'custom',
      message: `Must be ${DURATION_IN_WORDS}.`,
      params: { type: 'not_a_duration' },
    });
    return z.NEVER;
  };
}

const moment = (description: string) =>
  instant()
    .optional()
    .meta({
      description: `${description} RFC 3339 with an offset. In a URL, write + as %2B.`,
      example: '2026-11-01T00:00:00+05:00',
    });

/** A window that ends now, or one between two moments. The endpoint checks that a request names one of the two. */
export const windowParameters = {
  time_range: z.string().transform(durationIn(durationFromText)).optional().meta({
    description:
      'Lookback window: digits and s, m, h or d; at most 3650d. Default: 24h. Not together with from and to.',
    example: '24h',
  }),
  from: moment('Start of the window, instead of time_range.'),
  to: moment('End of the window, exclusive. Default: now. Only with from, and at most 3650 days after it.'),
};

/** The window that was applied, in replies. Requesting it again as `from` and `to` gives the same. */
export const appliedWindow = {
  from: z.iso
    .datetime()
    .meta({ description: 'Start of the window.', example: '2026-11-20T10:15:30.123456Z' }),
  to: z.iso.datetime().meta({ description: 'End of the window, exclusive.' }),
};

/** How many groups are listed. */
export function groupLimit(fallback: number) {
  return z
    .string()
    .refine((value) => /^0*[1-9][0-9]*$/.test(value), {
      error: 'Must be an integer of at least 1.',
      params: { type: 'not_an_integer' },
    })
    .transform((value) => Math.min(Number(value), MAX_GROUPS))
    .default(fallback)
    .meta({
      type: 'integer',
      minimum: 1,
      default: fallback,
      description: `How many groups are listed; more than ${MAX_GROUPS} is lowered to ${MAX_GROUPS}. All others together are in other.`,
      example: fallback,
    });
}

/** The window that ends now. */
export function timeRange() {
  return duration('24h', durationFromText).meta({
    description: 'Lookback window: digits and s, m, h or d; at most 3650d.',
    example: '24h',
  });
}

const ownedId = () => idReference().optional();

export const filters = { project_id: ownedId(), key_id: ownedId() };

/** Conditions on a request beyond its owners and model. */
export const requestFilters = {
  // The endpoint checks its values: a wrong one is answered with one sentence, not with an issue.
  status_category: z
    .string()
    .optional()
    .meta({ description: `One of ${STATUS_CATEGORIES.join(', ')}.` }),
  termination_reason: z
    .string()
    .optional()
    .meta({ description: `One of ${TERMINATION_REASONS.join(', ')}; any other matches nothing.` }),
  error_code: z
    .string()
    .optional()
    .meta({
      description: `An error_code of the breakdown, or ${ANY_ERROR} for every request that has one.`,
      example: 'rate_limit_exceeded',
    }),
  min_cost_pkr: z
    .string()
    .transform((value, context) => {
      const amount = microPkrCeiling(value);
      if (amount !== undefined) return amount;
      context.addIssue({
        code: 'custom',
        message: 'Must be a number of PKR, 0 or more, for example 0.25.',
        params: { type: 'not_an_amount' },
      });
      return z.NEVER;
    })
    .optional()
    .meta({ type: 'number', minimum: 0, description: 'Requests that cost at least this.', example: 0.25 }),
  search: z
    .string()
    .optional()
    .meta({ description: 'Part of the request id or of the metadata; case-insensitive.' }),
};

/** Requests know keys only; the others are looked up. */
export function tooManyKeysError(groupings: string) {
  return {
    status: 400,
    body: 'error',
    when: `group_by is ${groupings} and too many keys made requests`,
  } as const;
}

export const statusCategoryError: ErrorCase = {
  status: 400,
  body: 'error',
  when: 'status_category is not 2xx, 3xx, 4xx or 5xx',
};

export const analyticsErrors: readonly ErrorCase[] = [
  { status: 404, body: 'error', when: 'project_id or key_id does not belong to the organisation' },
  { status: 503, body: 'error', when: 'the telemetry store is unavailable or too slow' },
];
