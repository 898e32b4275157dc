import { z } from 'zod';

// Fields that several replies share.

/** An instant of a control-plane record. */
export function timestamp() {
  return z.iso.datetime({ offset: true, local: false }).meta({
    description: 'ISO 8601 with a numeric offset.',
    example: '2026-11-20T10:15:30.123456+00:00',
  });
}

/** An id with the name it has now; the name of something deleted is null. */
export function named() {
  return z.strictObject({ id: z.uuid(), name: z.string().nullable() }).nullable();
}
