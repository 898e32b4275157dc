import { ApiError, auth } from '@gatehouse/contract';
import type { Transaction } from '@gatehouse/store';
import type { RecorderFor } from '../../http/recorder.ts';
import { organizationName } from '../../organization/index.ts';
import type { ControlPlaneSettings, OidcSettings } from '../../settings.ts';
import { createAccount } from '../create-account.ts';
import { type AccountRow, insertUsedCredential, lockAccount } from '../queries.ts';
import type { ProvenIdentity } from './exchange-code.ts';
import { SignInFailure } from './failure.ts';
import * as queries from './queries.ts';

/** A token is remembered as used for this long; it belongs to a flow that ends sooner. */
const USED_SECONDS = 24 * 3_600;

export interface Linking {
  readonly oidc: OidcSettings;
  readonly settings: Pick<ControlPlaneSettings, 'signupCreditMicroPkr'>;
  readonly nowMs: number;
  readonly recorderFor: RecorderFor<'member.joined' | 'budget.deposited'>;
}

/**
 * The active account of the identity: the one that is linked to it, else the one with its verified address, which is linked
 * from here on and keeps its password, else a new one in the issuer's organisation.
 * @throws SignInFailure
 */
export async function linkIdentity(
  tx: Transaction,
  { subject, verifiedEmail, tokenHash }: ProvenIdentity,
  { oidc, settings, nowMs, recorderFor }: Linking,
): Promise<AccountRow> {
  const { issuer } = oidc;
  // Of several first sign-ins at once, one creates the account and the others find it.
  await tx.run(queries.lockIdentity, { issuer, subject });
  const expiresAtSeconds = nowMs / 1000 + USED_SECONDS;
  if ((await tx.run(insertUsedCredential, { credentialHash: tokenHash, expiresAtSeconds })) === 0) {
    throw new SignInFailure('invalid_answer', 'used before');
  }
  const known = await tx.one(queries.findIdentityAccount, { issuer, subject });
  if (known) return activeOnly(known);

  if (verifiedEmail === undefined) throw new SignInFailure('email_not_verified');
  const { data: email } = auth.register.body.shape.email.safeParse(verifiedEmail);
  if (email === undefined) throw new SignInFailure('email_not_accepted');
  const holder = await tx.one(lockAccount, { email });
  const account = holder
    ? activeOnly(holder)
    : await createMember(tx, { email, oidc, settings, recorderFor });
  if ((await tx.run(queries.insertIdentity, { issuer, subject, userId: account.userId })) === 0) {
    throw new SignInFailure('account_linked');
  }
  return account;
}

async function createMember(
  tx: Transaction,
  {
    email,
    oidc,
    settings,
    recorderFor,
  }: Pick<Linking, 'oidc' | 'settings' | 'recorderFor'> & { readonly email: string },
): Promise<AccountRow> {
  const name = organizationName(oidc.organization);
  if ('issue' in name) throw new Error(`OIDC_ORGANIZATION cannot be used: ${name.issue}`);
  // Who may sign in at the issuer may join: the operator named both.
  return createAccount(
    tx,
    { email, organizationName: name, passwordHash: null, googleSubject: null, recorderFor },
    { ...settings, joinPolicy: 'open' },
  ).catch((error: unknown) => {
    // The address was registered in the same moment.
    if (error instanceof ApiError && error.status === 409) throw new SignInFailure('unavailable');
    throw error;
  });
}

function activeOnly<Row extends { readonly isActive: boolean }>(row: Row): Row {
  if (!row.isActive) throw new SignInFailure('account_deactivated');
  return row;
}
