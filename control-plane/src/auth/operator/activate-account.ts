import type { Database } from '@gatehouse/store';
import type { RecorderFor } from '../../http/recorder.ts';
import { type AccountOverview, accountOverview } from './account-overview.ts';
import { lockMember } from './last-owner.ts';
import * as queries from './queries.ts';

/** Lets the account with this address sign in again, and records it. Returns undefined when there is none. */
export function activateAccount(
  database: Database,
  email: string,
  recorderFor: RecorderFor<'member.activated'>,
): Promise<{ readonly account: AccountOverview; readonly hasChanged: boolean } | undefined> {
  return database.transaction(async (tx) => {
    const row = await lockMember(tx, email);
    if (!row) return undefined;
    const { userId, organizationId, isActive } = row;
    if (!isActive) {
      await tx.run(queries.updateActive, { userId, isActive: true });
      await recorderFor({ organizationId, actorUserId: null })(tx, 'member.activated', row.email);
    }
    return { account: { ...accountOverview(row), isActive: true }, hasChanged: !isActive };
  });
}
