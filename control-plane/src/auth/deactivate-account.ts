import type { Database, Transaction } from '@gatehouse/store';
import { type AccountOverview, accountOverview } from './account-overview.ts';
import * as queries from './queries.ts';
import { comparableEmail } from './rules.ts';

/** What an operator did to an account, and what that left. */
export interface AccountChange {
  /** As it is now; as it was, when it is gone. */
  readonly account: AccountOverview;
  /** False when it was like that before. */
  readonly hasChanged: boolean;
  readonly endedSessions: number;
  /** How many owners the organisation has now, deactivated ones too. */
  readonly ownersLeft: number;
  /** How many active accounts may now rename the organisation. */
  readonly renamersLeft: number;
}

/**
 * Shuts the account with this address out: its sessions end, and it cannot sign in. Undefined when there is none.
 * A sign-in that is under way ends before this or fails.
 */
export function deactivateAccount(database: Database, email: string): Promise<AccountChange | undefined> {
  return database.transaction(async (tx) => {
    const row = await tx.one(queries.lockAccount, [comparableEmail(email)]);
    if (!row) return undefined;
    if (row.is_active) await tx.run(queries.updateActive, [row.user_id, false]);
    const endedSessions = await tx.run(queries.deleteSessionsOfUser, [row.user_id]);
    return {
      account: { ...accountOverview(row), isActive: false },
      hasChanged: row.is_active,
      endedSessions,
      ...(await leadersLeft(tx, row.organization_id)),
    };
  });
}

export async function leadersLeft(
  tx: Transaction,
  organizationId: string,
): Promise<Pick<AccountChange, 'ownersLeft' | 'renamersLeft'>> {
  const row = await tx.one(queries.findLeaders, [organizationId]);
  return { ownersLeft: Number(row?.owners ?? 0), renamersLeft: Number(row?.renamers ?? 0) };
}
