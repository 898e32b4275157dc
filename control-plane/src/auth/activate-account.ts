import type { Database } from '@gatehouse/store';
import { type AccountOverview, accountOverview } from './account-overview.ts';
import * as queries from './queries.ts';
import { comparableEmail } from './rules.ts';

/** Lets the account with this address sign in again. Undefined when there is none. */
export function activateAccount(
  database: Database,
  email: string,
): Promise<{ readonly account: AccountOverview; readonly hasChanged: boolean } | undefined> {
  return database.transaction(async (tx) => {
    const row = await tx.one(queries.lockAccount, [comparableEmail(email)]);
    if (!row) return undefined;
    if (!row.is_active) await tx.run(queries.updateActive, [row.user_id, true]);
    return { account: { ...accountOverview(row), isActive: true }, hasChanged: !row.is_active };
  });
}
