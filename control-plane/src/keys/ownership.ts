import { type KeyId, type OrganizationId, type ProjectId, uuidFromText } from '@gatehouse/contract';
import type { Queryable } from '@gatehouse/store';
import type { Owned } from '../tenant-statement.ts';
import * as queries from './queries.ts';

/** The organisation's project; undefined for foreign, unknown and malformed ids alike. */
export async function findOwnedProject(
  database: Queryable,
  organizationId: OrganizationId,
  given: string,
): Promise<Owned<'project'> | undefined> {
  const projectId = uuidFromText(given) as ProjectId | undefined;
  return projectId && (await database.one(queries.findProject, { projectId, organizationId }))?.id;
}

/** The organisation's key, revoked or not; undefined for foreign, unknown and malformed ids alike. */
export async function findOwnedKey(
  database: Queryable,
  organizationId: OrganizationId,
  given: string,
): Promise<Owned<'key'> | undefined> {
  const keyId = keyIdFromText(given);
  return keyId && (await database.one(queries.findKey, { keyId, organizationId }))?.id;
}

/** The id in canonical form; undefined for a malformed one. Whose key it is remains to be checked. */
export function keyIdFromText(given: string): KeyId | undefined {
  return uuidFromText(given) as KeyId | undefined;
}
