import { createHash } from 'node:crypto';
import type { Secret } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { createPasswords, isCommonPassword } from '../passwords.ts';
import * as queries from '../queries.ts';
import { comparableEmail, passwordIssue } from '../rules.ts';
import { type AccountOverview, accountOverview } from './account-overview.ts';

/** The password cannot be used. The message says why, to an operator. */
export class PasswordError extends Error {
  override readonly name = 'PasswordError';
}

/** Throws PasswordError for a password that nobody could register with. */
export async function requireUsable(password: Secret): Promise<void> {
  const issue = passwordIssue(password);
  if (issue !== undefined) throw new PasswordError(`the password cannot be used: ${issue}`);
  if (await isCommonPassword(password))
    throw new PasswordError('the password cannot be used: it is among the commonest; choose another');
}

/**
 * Sets the password of the account with this address, by the rules of registration. An account without one can sign in
 * either way from then on. Its sessions end, and the failed sign-ins of the address no longer count. Returns undefined
 * when there is no such account.
 * @throws PasswordError
 */
export async function setPassword(
  database: Database,
  email: string,
  password: Secret,
): Promise<{ readonly account: AccountOverview; readonly endedSessions: number } | undefined> {
  await requireUsable(password);
  const address = comparableEmail(email);
  if (address === undefined) return undefined;
  const passwordHash = await createPasswords().hash(password);
  const emailHash = createHash('sha256').update(address).digest();

  return database.transaction(async (tx) => {
    // Locks in the order of a sign-in: one with the old password completes before this, or fails after it.
    await tx.run(queries.lockFailures, { emailHash });
    const row = await tx.one(queries.lockAccount, { email: address });
    if (!row) return undefined;
    await tx.run(queries.updatePassword, { userId: row.userId, passwordHash, earlierHash: null });
    const endedSessions = await tx.run(queries.deleteSessionsOfUser, { userId: row.userId });
    await tx.run(queries.deleteFailures, { emailHash });
    return { account: { ...accountOverview(row), hasPassword: true }, endedSessions };
  });
}
