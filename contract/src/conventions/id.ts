import { z } from 'zod';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * The canonical form of a uuid, or undefined. PostgreSQL also takes braces and missing hyphens; two spellings of
 * one id would be two ids to a cache or a log, so only one is accepted.
 */
export function uuidFromText(text: string): string | undefined {
  return UUID.test(text) ? text.toLowerCase() : undefined;
}

/** An id from a caller. Any text passes: one that is not a uuid is an unknown id (404). */
export function idReference(): z.ZodString {
  return z.string().meta({ format: 'uuid' });
}

/** An id in a reply. */
export function id(): z.ZodUUID {
  return z.uuid();
}
