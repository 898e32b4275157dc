import { z } from 'zod';
import { idReference } from '../conventions/id.ts';
import { DURATION_IN_WORDS, type Duration, durationFromText } from '../conventions/time.ts';
import type { ErrorCase } from '../endpoint.ts';

// Parameters and errors that the endpoints of analytics share.

/** A lookback window or a bucket width. */
export function duration(fallback: string, read: (text: string) => Duration | undefined) {
  return z
    .string()
    .default(fallback)
    .transform((value, context) => {
      const parsed = read(value);
      if (parsed) return parsed;
      context.addIssue({
        code: 'custom',
        message: `Must be ${DURATION_IN_WORDS}.`,
        params: { type: 'not_a_duration' },
      });
      return z.NEVER;
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

export const analyticsErrors: readonly ErrorCase[] = [
  { status: 404, body: 'error', when: 'project_id or key_id does not belong to the organisation' },
  { status: 503, body: 'error', when: 'the telemetry store is unavailable or too slow' },
];
