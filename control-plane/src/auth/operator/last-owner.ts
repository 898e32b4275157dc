import type { Transaction } from '@gatehouse/store';
import { lockOrganization } from '../../organization/index.ts';
import * as accounts from '../queries.ts';
import { comparableEmail } from '../rules.ts';
import * as queries from './queries.ts';

/** A change of an account that is not made. The message says why, to an operator. */
export class AccountError extends Error {
  override readonly name = 'AccountError';
}

/**
 * The account with this address, locked, under its organisation's lock, so that of two changes at once the second sees what
 * the first has left. Undefined where there is none.
 */
export async function lockMember(tx: Transaction, given: string): Promise<accounts.OverviewRow | undefined> {
  const email = comparableEmail(given);
  const found = email === undefined ? undefined : await tx.one(accounts.findAccount, { email });
  if (email === undefined || !found) return undefined;
  await lockOrganization(tx, found.organizationId);
  return tx.one(accounts.lockAccount, { email });
}

/**
 * True where the organisation has no other active owner than this one. The operator is told: without one it cannot rename
 * itself, and nobody can be made its owner from within.
 */
export async function isLastOwner(
  tx: Transaction,
  { userId, role, isActive, organizationId }: accounts.OverviewRow,
): Promise<boolean> {
  if (role !== 'owner' || !isActive) return false;
  return (await tx.one(queries.findOtherOwner, { organizationId, userId })) === undefined;
}
