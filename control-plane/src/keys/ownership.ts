import { uuidFromText } from '@gatehouse/contract';
import type { Queryable } from '@gatehouse/store';
import * as queries from './queries.ts';

declare const owned: unique symbol;

/**
 * An id that was found among those of the organisation that asks. What reads or writes by such an id takes this type
 * and no bare string, so that a look-up without the organisation does not compile.
 */
export type Owned<Kind extends 'project' | 'key'> = string & { readonly [owned]: Kind };

/** The project of the organisation, or undefined: another's, an unknown and a malformed id are all the same. */
export async function findOwnedProject(
  database: Queryable,
  organizationId: string,
  given: string,
): Promise<Owned<'project'> | undefined> {
  const id = uuidFromText(given);
  const row = id && (await database.one(queries.findProject, [id, organizationId]));
  return row ? (row.id as Owned<'project'>) : undefined;
}

/** The key of the organisation, revoked ones too, or undefined: as with projects. */
export async function findOwnedKey(
  database: Queryable,
  organizationId: string,
  given: string,
): Promise<Owned<'key'> | undefined> {
  const id = uuidFromText(given);
  const row = id && (await database.one(queries.findKey, [id, organizationId]));
  return row ? (row.id as Owned<'key'>) : undefined;
}
