import type { OrganizationId } from '@gatehouse/contract';
import type { Queryable } from '@gatehouse/store';
import * as queries from './queries.ts';
import { nameKey } from './rules.ts';

/** Every project of the organisation, oldest first. */
export function listAllProjects(
  database: Queryable,
  organizationId: OrganizationId,
): Promise<readonly queries.Project[]> {
  return database.many(queries.listProjects, { organizationId });
}

/** The projects that an operator may mean: the one with this id, or those with this name in any spelling. */
export async function findProjects(
  database: Queryable,
  organizationId: OrganizationId,
  reference: string,
): Promise<readonly queries.Project[]> {
  const projects = await listAllProjects(database, organizationId);
  const byId = projects.filter(({ id }) => id === reference);
  const key = nameKey(reference);
  return byId.length > 0 ? byId : projects.filter(({ name }) => nameKey(name) === key);
}
