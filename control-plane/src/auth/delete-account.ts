import type { Database } from '@gatehouse/store';
import { accountOverview } from './account-overview.ts';
import { type AccountChange, leadersLeft } from './deactivate-account.ts';
import * as queries from './queries.ts';
import { comparableEmail } from './rules.ts';

/**
 * Deletes the account with this address and its sessions. Returns undefined when there is none. Its entries stay in the
 * activity log, without an actor.
 */
export async function deleteAccount(database: Database, given: string): Promise<AccountChange | undefined> {
  const email = comparableEmail(given);
  if (email === undefined) return undefined;
  return database.transaction(async (tx) => {
    const row = await tx.one(queries.lockAccount, { email });
    if (!row) return undefined;
    const endedSessions = await tx.run(queries.deleteSessionsOfUser, { userId: row.userId });
    await tx.run(queries.deleteUser, { userId: row.userId });
    return {
      account: accountOverview(row),
      hasChanged: true,
      endedSessions,
      ...(await leadersLeft(tx, row.organizationId)),
    };
  });
}
