import { uuidFromText } from '@gatehouse/contract';
import type { Queryable } from '@gatehouse/store';
import * as queries from './queries.ts';

declare const owned: unique symbol;

/**
 * An id that a look-up by organisation returned. Statements that do not name the organisation themselves take this type
 * instead of a plain id, so a missing ownership check does not compile.
 */
export type Owned<Kind extends 'project' | 'key'> = string & { readonly [owned]: Kind };

/** The organisation's project; undefined for foreign, unknown and malformed ids alike. */
export async function findOwnedProject(
  database: Queryable,
  organizationId: string,
  given: string,
): Promise<Owned<'project'> | undefined> {
  const id = uuidFromText(given);
  const row = id && (await database.one(queries.findProject, [id, organizationId]));
  return row ? (row.id as Owned<'project'>) : undefined;
}

/** The organisation's key, revoked or not; undefined for foreign, unknown and malformed ids alike. */
export async function findOwnedKey(
  database: Queryable,
  organizationId: string,
  given: string,
): Promise<Owned<'key'> | undefined> {
  const id = uuidFromText(given);
  const row = id && (await database.one(queries.findKey, [id, organizationId]));
  return row ? (row.id as Owned<'key'>) : undefined;
}
