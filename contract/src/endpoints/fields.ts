import { z } from 'zod';
import { text } from '../conventions/text.ts';
import { epochMicrosFromTimestamp, TIMESTAMP_IN_WORDS } from '../conventions/time.ts';

// Fields that several endpoints share.

/** An instant of a control-plane record. */
export function timestamp() {
  return z.iso.datetime({ offset: true, local: false }).meta({
    description: 'ISO 8601 with a numeric offset.',
    example: '2026-11-20T10:15:30.123456+00:00',
  });
}

/** An instant that a caller gives, read as epoch microseconds. */
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

/** An id with the name it has now; the name of something deleted is null. */
export function named() {
  return z.strictObject({ id: z.uuid(), name: z.string().nullable() }).nullable();
}
