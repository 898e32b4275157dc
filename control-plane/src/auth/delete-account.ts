import type { Database } from '@gatehouse/store';
import { accountOverview } from './account-overview.ts';
import { type AccountChange, leadersLeft } from './deactivate-account.ts';
import * as queries from './queries.ts';
import { comparableEmail } from './rules.ts';

/**
 * Removes the account with this address for good, and its sessions with it. Undefined when there is none. What it did
 * stays in the activity log, which names nobody for it from then on.
 */
export function deleteAccount(database: Database, email: string): Promise<AccountChange | undefined> {
  return database.transaction(async (tx) => {
    const row = await tx.one(queries.lockAccount, [comparableEmail(email)]);
    if (!row) return undefined;
    const endedSessions = await tx.run(queries.deleteSessionsOfUser, [row.user_id]);
    await tx.run(queries.deleteUser, [row.user_id]);
    return {
      account: accountOverview(row),
      hasChanged: true,
      endedSessions,
      ...(await leadersLeft(tx, row.organization_id)),
    };
  });
}
