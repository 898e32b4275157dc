import { activity, timestampWithOffset } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { withSession } from '../http/implement.ts';
import * as queries from './queries.ts';

export function listActivity(database: Database) {
  return withSession(activity.listActivity, async ({ query }, session) => {
    const { limit, offset, until, action = null, actor = null } = query;
    const page = { organizationId: session.organizationId, limit, offset, action, actor };
    const rows = await (until === undefined
      ? database.many(queries.listEvents, page)
      : database.many(queries.listEventsUntil, { ...page, until: timestampWithOffset(until) }));
    return {
      body: {
        events: rows.map((row) => ({
          actor: row.actor,
          action: row.action,
          target: row.target,
          timestamp: row.occurredAt,
          source_ip: row.sourceIp,
        })),
        limit,
        offset,
      },
    };
  });
}
