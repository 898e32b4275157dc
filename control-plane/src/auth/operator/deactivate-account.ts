import type { Database } from '@gatehouse/store';
import type { RecorderFor } from '../../http/recorder.ts';
import * as accounts from '../queries.ts';
import { type AccountOverview, accountOverview } from './account-overview.ts';
import { isLastOwner, lockMember } from './last-owner.ts';
import * as queries from './queries.ts';

/** The result of an operator's change of an account. */
export interface AccountChange {
  /** The account after the change, or before its deletion. */
  readonly account: AccountOverview;
  /** False when the account was in that state before. */
  readonly hasChanged: boolean;
  /** True when the change left the organisation without an active owner. */
  readonly wasLastOwner: boolean;
  readonly endedSessions: number;
}

/**
 * Ends the sessions of the account with this address, keeps it from signing in, and records it. Returns undefined when there
 * is none. A sign-in in progress either completes first and its session ends too, or fails.
 */
export function deactivateAccount(
  database: Database,
  email: string,
  recorderFor: RecorderFor<'member.deactivated'>,
): Promise<AccountChange | undefined> {
  return database.transaction(async (tx) => {
    const row = await lockMember(tx, email);
    if (!row) return undefined;
    const { userId, organizationId, isActive } = row;
    const wasLastOwner = await isLastOwner(tx, row);
    const endedSessions = await tx.run(accounts.deleteSessionsOfUser, { userId });
    if (isActive) {
      await tx.run(queries.updateActive, { userId, isActive: false });
      await recorderFor({ organizationId, actorUserId: null })(tx, 'member.deactivated', row.email);
    }
    return {
      account: { ...accountOverview(row), isActive: false },
      hasChanged: isActive,
      wasLastOwner,
      endedSessions,
    };
  });
}
