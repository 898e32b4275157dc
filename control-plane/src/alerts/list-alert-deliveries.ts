import { alerts } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { withSession } from '../http/implement.ts';
import * as queries from './queries.ts';

export function listAlertDeliveries(database: Database) {
  return withSession(alerts.listAlertDeliveries, async ({ query }, { organizationId }) => {
    const rows = await database.many(queries.listDeliveries, { organizationId, ...query });
    return {
      body: {
        deliveries: rows.map((row) => ({
          id: row.id,
          channel_id: row.channelId,
          type: row.type,
          created_at: row.createdAt,
          status: row.status,
          attempts: row.attempts,
          last_error: row.lastError,
        })),
      },
    };
  });
}
