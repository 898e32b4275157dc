import { auth, type OrganizationId, type Role, type Secret } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import type { RecorderFor } from '../../http/recorder.ts';
import { lockOrganization } from '../../organization/index.ts';
import { createPasswords } from '../passwords.ts';
import { findAccount, insertUser } from '../queries.ts';
import { type AccountOverview, accountOverview } from './account-overview.ts';
import { AccountError } from './last-owner.ts';
import { requireUsable } from './set-password.ts';

export interface NewMember {
  readonly email: string;
  readonly organizationId: OrganizationId;
  readonly role: Role;
  /** Undefined: it signs in with Google or at the OpenID issuer only, until it is given one. */
  readonly password: Secret | undefined;
}

/**
 * Makes an account in the organisation, whatever its join policy says, and records it.
 * @throws AccountError when the address cannot be used or is taken, PasswordError
 */
export async function createMember(
  database: Database,
  { email: given, organizationId, role, password }: NewMember,
  recorderFor: RecorderFor<'member.joined'>,
): Promise<AccountOverview> {
  const { data: email, error } = auth.register.body.shape.email.safeParse(given);
  if (email === undefined) throw new AccountError(`the address cannot be used: ${error?.issues[0]?.message}`);
  if (password) await requireUsable(password);
  const passwordHash = password ? await createPasswords().hash(password) : null;
  return database.transaction(async (tx) => {
    // It may be in the course of being deleted.
    await lockOrganization(tx, organizationId);
    const made = await tx.one(insertUser, { organizationId, email, passwordHash, role, googleSubject: null });
    if (!made) throw new AccountError(`an account with the address ${email} exists already`);
    await recorderFor({ organizationId, actorUserId: null })(tx, 'member.joined', email);
    const row = await tx.one(findAccount, { email });
    if (!row) throw new Error(`the account ${email} was not made`);
    return accountOverview(row);
  });
}
