import type { OrganizationId } from '@gatehouse/contract';
import type { Transaction } from '@gatehouse/store';
import { lockOrganization } from './lock-organization.ts';
import * as queries from './queries.ts';
import { nameKey } from './rules.ts';

/**
 * Adds a project to the organisation, or returns the one that has the name, in any spelling. An older database may hold
 * several of one name; they stay. Runs under the organisation's lock, so that of two at once the second finds the first.
 */
export async function createProject(
  tx: Transaction,
  organizationId: OrganizationId,
  name: string,
): Promise<{ readonly created: queries.Project } | { readonly existing: queries.Project }> {
  await lockOrganization(tx, organizationId);
  const key = nameKey(name);
  const projects = await tx.many(queries.listProjects, { organizationId });
  const existing = projects.find((one) => nameKey(one.name) === key);
  if (existing) return { existing };
  const created = await tx.one(queries.insertProject, { organizationId, name });
  if (!created) throw new Error('the project was not inserted');
  return { created };
}
