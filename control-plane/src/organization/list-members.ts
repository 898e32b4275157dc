import { organization } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { withSession } from '../http/implement.ts';
import * as queries from './queries.ts';

export function listMembers(database: Database) {
  return withSession(organization.listMembers, async (_call, session) => {
    const rows = await database.many(queries.listMembers, {
      organizationId: session.organizationId,
    });
    return {
      body: {
        members: rows.map((row) => ({
          user_id: row.id,
          email: row.email,
          role: row.role,
          joined_at: row.createdAt,
        })),
      },
    };
  });
}
