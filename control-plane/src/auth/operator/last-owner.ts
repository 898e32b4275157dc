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
 * Throws where the organisation would have no active owner without this one. It could not rename itself, and nobody else
 * could be made its owner from within.
 * @throws AccountError
 */
export async function requireOtherOwner(
  tx: Transaction,
  { userId, email, role, isActive, organizationId, organizationName }: accounts.OverviewRow,
): Promise<void> {
  if (role !== 'owner' || !isActive) return;
  const other = await tx.one(queries.findOtherOwner, { organizationId, userId });
  if (other) return;
  throw new AccountError(
    `${email} is the last active owner of ${organizationName}; make another account its owner first (gatehouse user set-role), or delete the organisation (gatehouse org delete)`,
  );
}
