import type { Transaction } from '@gatehouse/store';
import * as queries from './queries.ts';
import { nameKey } from './rules.ts';

export interface Project {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
}

/**
 * Adds a project to the organisation, or returns the one that has the name, in any spelling. An older database may hold
 * several of one name; they stay. Under the organisation's lock, so that of two that come at once one finds the other.
 */
export async function createProject(
  tx: Transaction,
  organizationId: string,
  name: string,
): Promise<{ readonly created: Project } | { readonly existing: Project }> {
  await tx.run(queries.lockOrganization, [organizationId]);
  const key = nameKey(name);
  const existing = (await tx.many(queries.listProjects, [organizationId])).find(
    (one) => nameKey(one.name) === key,
  );
  if (existing) return { existing: project(existing) };
  const row = await tx.one(queries.insertProject, [organizationId, name]);
  if (!row) throw new Error('the project was not inserted');
  return { created: project(row) };
}

function project(row: { id: string; name: string; created_at: string }): Project {
  return { id: row.id, name: row.name, createdAt: row.created_at };
}
