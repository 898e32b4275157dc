import { isStorableText, type OrganizationId, uuidFromText } from '@gatehouse/contract';
import type { Queryable } from '@gatehouse/store';
import * as queries from './queries.ts';

/** More than anybody reads to tell keys of one prefix apart. */
const MAX_FOUND = 20;

export type KeyOverview = queries.KeyOverviewRow;

/** The keys of the organisation that are not revoked, newest first. */
export function listKeyOverviews(
  database: Queryable,
  organizationId: OrganizationId,
): Promise<readonly KeyOverview[]> {
  return database.many(queries.listKeyOverviews, { organizationId });
}

/** The keys that an operator may mean by an id or a prefix, revoked ones last; 20 at most. */
export async function findKeyOverviews(
  database: Queryable,
  reference: string,
): Promise<readonly KeyOverview[]> {
  if (!isStorableText(reference)) return [];
  const id = uuidFromText(reference) ?? null;
  return database.many(queries.findKeyOverviews, { id, prefix: reference, limit: MAX_FOUND });
}
