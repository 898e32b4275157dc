import { createHash } from 'node:crypto';
import type { Database } from '@gatehouse/store';
import { type AccountOverview, accountOverview } from './account-overview.ts';
import { createPasswords, isCommonPassword } from './passwords.ts';
import * as queries from './queries.ts';
import { comparableEmail, passwordFault } from './rules.ts';

/** The password cannot be used. The message says why, for an operator. */
export class PasswordRefused extends Error {
  override readonly name = 'PasswordRefused';
}

/**
 * Gives the account with this address a password, by the rules of registration; one that had none so far can sign in
 * either way from then on. Its sessions end, and the failed sign-ins of the address no longer count. Undefined when
 * there is no such account. Throws PasswordRefused.
 */
export async function setPassword(
  database: Database,
  email: string,
  password: string,
): Promise<{ readonly account: AccountOverview; readonly endedSessions: number } | undefined> {
  const fault = passwordFault(password);
  if (fault !== undefined) throw new PasswordRefused(`the password will not do: ${fault}`);
  if (await isCommonPassword(password))
    throw new PasswordRefused('the password will not do: it is among the commonest; choose another');
  const address = comparableEmail(email);
  if (address === undefined) return undefined;
  const passwordHash = await createPasswords().hash(password);
  const emailHash = createHash('sha256').update(address).digest();

  return database.transaction(async (tx) => {
    // In the order of a sign-in, which is thus before this as a whole, or after it and fails with the old password.
    await tx.run(queries.lockFailures, [emailHash]);
    const row = await tx.one(queries.lockAccount, [address]);
    if (!row) return undefined;
    await tx.run(queries.updatePassword, [row.user_id, passwordHash]);
    const endedSessions = await tx.run(queries.deleteSessionsOfUser, [row.user_id]);
    await tx.run(queries.deleteFailures, [emailHash]);
    return { account: { ...accountOverview(row), hasPassword: true }, endedSessions };
  });
}
