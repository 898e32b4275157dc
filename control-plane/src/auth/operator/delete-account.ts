import type { Database } from '@gatehouse/store';
import type { RecorderFor } from '../../http/recorder.ts';
import { deleteSessionsOfUser } from '../queries.ts';
import { accountOverview } from './account-overview.ts';
import type { AccountChange } from './deactivate-account.ts';
import { isLastOwner, lockMember } from './last-owner.ts';
import * as queries from './queries.ts';

/**
 * Deletes the account with this address and its sessions, and records it. Returns undefined when there is none. Its entries
 * stay in the activity log, without an actor.
 */
export function deleteAccount(
  database: Database,
  email: string,
  recorderFor: RecorderFor<'member.removed'>,
): Promise<AccountChange | undefined> {
  return database.transaction(async (tx) => {
    const row = await lockMember(tx, email);
    if (!row) return undefined;
    const wasLastOwner = await isLastOwner(tx, row);
    const { userId, organizationId } = row;
    const endedSessions = await tx.run(deleteSessionsOfUser, { userId });
    await tx.run(queries.deleteUser, { userId });
    await recorderFor({ organizationId, actorUserId: null })(tx, 'member.removed', row.email);
    return { account: accountOverview(row), hasChanged: true, wasLastOwner, endedSessions };
  });
}
