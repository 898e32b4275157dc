import type { Queryable } from '@gatehouse/store';
import * as queries from './queries.ts';

/** Adds a project to the organisation. Its name need not be unique. */
export async function createProject(
  database: Queryable,
  organizationId: string,
  name: string,
): Promise<{ readonly id: string; readonly name: string; readonly createdAt: string }> {
  const row = await database.one(queries.insertProject, [organizationId, name]);
  if (!row) throw new Error('the project was not inserted');
  return { id: row.id, name: row.name, createdAt: row.created_at };
}
