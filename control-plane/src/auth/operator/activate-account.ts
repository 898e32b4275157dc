import type { Database } from '@gatehouse/store';
import * as accounts from '../queries.ts';
import { comparableEmail } from '../rules.ts';
import { type AccountOverview, accountOverview } from './account-overview.ts';
import * as queries from './queries.ts';

/** Lets the account with this address sign in again. Returns undefined when there is none. */
export async function activateAccount(
  database: Database,
  given: string,
): Promise<{ readonly account: AccountOverview; readonly hasChanged: boolean } | undefined> {
  const email = comparableEmail(given);
  if (email === undefined) return undefined;
  return database.transaction(async (tx) => {
    const row = await tx.one(accounts.lockAccount, { email });
    if (!row) return undefined;
    if (!row.isActive) await tx.run(queries.updateActive, { userId: row.userId, isActive: true });
    return { account: { ...accountOverview(row), isActive: true }, hasChanged: !row.isActive };
  });
}
