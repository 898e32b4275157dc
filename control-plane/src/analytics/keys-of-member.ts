import { badRequest, notFound, type OrganizationId, type UserId, uuidFromText } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import type { Owned } from '../keys/index.ts';
import { MAX_KEYS } from './breakdown/telemetry.ts';
import { findMember, listKeysOfMember } from './queries.ts';

/** The keys that a member minted; undefined where no member is given. Throws 404 for one of another organisation, and 400 for too many keys. */
export async function findKeysOfMember(
  database: Database,
  organizationId: OrganizationId,
  given: string | undefined,
): Promise<readonly Owned<'key'>[] | undefined> {
  if (given === undefined) return undefined;
  const memberId = uuidFromText(given) as UserId | undefined;
  if (memberId === undefined) throw notFound('Member');
  const member = { organizationId, memberId };
  if (!(await database.one(findMember, member))) throw notFound('Member');
  const keys = await database.many(listKeysOfMember, { ...member, most: MAX_KEYS + 1 });
  if (keys.length > MAX_KEYS)
    throw badRequest(`The member minted more than ${MAX_KEYS} keys. Filter by key_id or project_id instead.`);
  return keys.map(({ id }) => id);
}
