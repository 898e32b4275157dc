import { activity } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { withSession } from '../http/implement.ts';
import * as queries from './queries.ts';

export function listActivity(database: Database) {
  return withSession(activity.listActivity, async ({ query }, session) => {
    const rows = await database.many(queries.listEvents, [session.organizationId, query.limit, query.offset]);
    return {
      body: {
        events: rows.map((row) => ({
          actor: row.actor,
          action: row.action,
          target: row.target,
          timestamp: row.occurred_at,
          source_ip: row.source_ip,
        })),
        limit: query.limit,
        offset: query.offset,
      },
    };
  });
}
