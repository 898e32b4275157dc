import { type OrganizationId, uuidFromText } from '@gatehouse/contract';
import type { Queryable } from '@gatehouse/store';
import * as queries from './queries.ts';
import { organizationName } from './rules.ts';

/** The organisation with this id, or else with this name in any spelling; undefined when none matches. */
export async function findOrganization(
  database: Queryable,
  reference: string,
): Promise<{ readonly id: OrganizationId; readonly name: string } | undefined> {
  const id = uuidFromText(reference);
  const byId = id === undefined ? undefined : await database.one(queries.findOrganizationById, { id });
  if (byId) return byId;
  const name = organizationName(reference);
  return 'issue' in name ? undefined : database.one(queries.findOrganizationByKey, { nameKey: name.key });
}
