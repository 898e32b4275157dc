import { activity, timestampWithOffset } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { withSession } from '../http/implement.ts';
import * as queries from './queries.ts';

export function listActivity(database: Database) {
  return withSession(activity.listActivity, async ({ query }, session) => {
    const page = [session.organizationId, query.limit, query.offset];
    const rows = await (query.until === undefined
      ? database.many(queries.listEvents, page)
      : database.many(queries.listEventsUntil, [...page, timestampWithOffset(query.until)]));
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
