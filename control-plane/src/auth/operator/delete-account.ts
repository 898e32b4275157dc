import type { Database } from '@gatehouse/store';
import * as accounts from '../queries.ts';
import { comparableEmail } from '../rules.ts';
import { accountOverview } from './account-overview.ts';
import { type AccountChange, leadersLeft } from './deactivate-account.ts';
import * as queries from './queries.ts';

/**
 * Deletes the account with this address and its sessions. Returns undefined when there is none. Its entries stay in the
 * activity log, without an actor.
 */
export async function deleteAccount(database: Database, given: string): Promise<AccountChange | undefined> {
  const email = comparableEmail(given);
  if (email === undefined) return undefined;
  return database.transaction(async (tx) => {
    const row = await tx.one(accounts.lockAccount, { email });
    if (!row) return undefined;
    const endedSessions = await tx.run(accounts.deleteSessionsOfUser, { userId: row.userId });
    await tx.run(queries.deleteUser, { userId: row.userId });
    return {
      account: accountOverview(row),
      hasChanged: true,
      endedSessions,
      ...(await leadersLeft(tx, row.organizationId)),
    };
  });
}
