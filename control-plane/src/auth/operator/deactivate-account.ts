import type { OrganizationId } from '@gatehouse/contract';
import type { Database, Transaction } from '@gatehouse/store';
import * as accounts from '../queries.ts';
import { comparableEmail } from '../rules.ts';
import { type AccountOverview, accountOverview } from './account-overview.ts';
import * as queries from './queries.ts';

/** The result of an operator's change of an account. */
export interface AccountChange {
  /** The account after the change, or before its deletion. */
  readonly account: AccountOverview;
  /** False when the account was in that state before. */
  readonly hasChanged: boolean;
  readonly endedSessions: number;
  /** How many owners the organisation has now, including deactivated ones. */
  readonly ownersLeft: number;
  /** How many active accounts may rename the organisation now. */
  readonly renamersLeft: number;
}

/**
 * Ends the sessions of the account with this address and keeps it from signing in. Returns undefined when there is none.
 * A sign-in in progress either completes first and its session ends too, or fails.
 */
export async function deactivateAccount(
  database: Database,
  given: string,
): Promise<AccountChange | undefined> {
  const email = comparableEmail(given);
  if (email === undefined) return undefined;
  return database.transaction(async (tx) => {
    const row = await tx.one(accounts.lockAccount, { email });
    if (!row) return undefined;
    if (row.isActive) await tx.run(queries.updateActive, { userId: row.userId, isActive: false });
    const endedSessions = await tx.run(accounts.deleteSessionsOfUser, { userId: row.userId });
    return {
      account: { ...accountOverview(row), isActive: false },
      hasChanged: row.isActive,
      endedSessions,
      ...(await leadersLeft(tx, row.organizationId)),
    };
  });
}

export async function leadersLeft(
  tx: Transaction,
  organizationId: OrganizationId,
): Promise<Pick<AccountChange, 'ownersLeft' | 'renamersLeft'>> {
  const row = await tx.one(queries.findLeaders, { organizationId });
  return { ownersLeft: Number(row?.owners ?? 0), renamersLeft: Number(row?.renamers ?? 0) };
}
