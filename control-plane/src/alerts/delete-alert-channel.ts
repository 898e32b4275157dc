import { alerts, notFound } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { withSession } from '../http/implement.ts';
import { channelIdFromText, channelInWords } from './channel-fields.ts';
import * as queries from './queries.ts';

export function deleteAlertChannel(database: Database) {
  return withSession(alerts.deleteAlertChannel, async ({ params, record }, { organizationId }) => {
    const channelId = channelIdFromText(params['channel_id'] ?? '');
    if (channelId === undefined) throw notFound('Channel');
    const words = await database.transaction(async (tx) => {
      const channel = { organizationId, channelId };
      const row = await tx.one(queries.listChannels, channel);
      if (!row || (await tx.run(queries.deleteChannel, channel)) === 0) throw notFound('Channel');
      const target = channelInWords(row);
      await record(tx, 'alert_channel.deleted', target);
      return target;
    });
    return { body: { message: `Alerts are no longer sent to ${words}.` } };
  });
}
