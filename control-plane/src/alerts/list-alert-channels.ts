import { alerts } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { withSession } from '../http/implement.ts';
import { channelFields } from './channel-fields.ts';
import * as queries from './queries.ts';

export function listAlertChannels(database: Database) {
  return withSession(alerts.listAlertChannels, async (_call, { organizationId }) => {
    const rows = await database.many(queries.listChannels, { organizationId, channelId: null });
    return { body: { channels: rows.map(channelFields) } };
  });
}
