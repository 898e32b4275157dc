import { organization } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { withSession } from '../http/implement.ts';
import * as queries from './queries.ts';

export function listProjects(database: Database) {
  return withSession(organization.listProjects, async (_call, session) => {
    const rows = await database.many(queries.listProjects, {
      organizationId: session.organizationId,
    });
    return {
      body: { projects: rows.map((row) => ({ id: row.id, name: row.name, created_at: row.createdAt })) },
    };
  });
}
