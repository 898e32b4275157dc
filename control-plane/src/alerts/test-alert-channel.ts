import { alerts, MAX_ALERT_TESTS, notFound, tooManyRequests } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { withSession } from '../http/implement.ts';
import { channelIdFromText } from './channel-fields.ts';
import * as queries from './queries.ts';

const RETRY_AFTER_SECONDS = 600;

/** A test costs nothing to send, and the address may be of a person who does not expect it: so few of them. */
export function testAlertChannel(database: Database) {
  return withSession(alerts.testAlertChannel, async ({ params }, { organizationId }) => {
    const channelId = channelIdFromText(params['channel_id'] ?? '');
    if (channelId === undefined) throw notFound('Channel');
    const delivery = await database.transaction(async (tx) => {
      await tx.run(queries.lockBalance, { organizationId });
      if (!(await tx.one(queries.listChannels, { organizationId, channelId }))) throw notFound('Channel');
      const counted = await tx.one(queries.countTests, { organizationId });
      if ((counted?.tests ?? 0n) >= MAX_ALERT_TESTS)
        throw tooManyRequests(
          `${MAX_ALERT_TESTS} tests were sent within 10 minutes. Wait for some minutes, then try again.`,
          RETRY_AFTER_SECONDS,
        );
      return tx.one(queries.insertTest, { organizationId, channelId });
    });
    if (!delivery) throw new Error('an inserted delivery has no id');
    return { body: { delivery_id: delivery.id } };
  });
}
