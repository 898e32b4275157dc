import { createHash } from 'node:crypto';
import { auth, badRequest, conflict, notAuthenticated, unavailable } from '@gatehouse/contract';
import type { Queryable, Transaction } from '@gatehouse/store';
import type { Logger } from 'pino';
import { withoutSession } from '../http/implement.ts';
import type { RecorderFor } from '../http/recorder.ts';
import { organizationName } from '../organization/index.ts';
import type { DatabaseFor } from '../scheduling.ts';
import type { ControlPlaneSettings } from '../settings.ts';
import { createAccount } from './create-account.ts';
import { type GoogleCredential, type GoogleTokens, readGoogleCredential } from './google-credential.ts';
import { isGoogleAuthoritative } from './google-rules.ts';
import { IdentityError } from './openid/id-token.ts';
import * as queries from './queries.ts';
import { countRegistration } from './registrations.ts';
import { signIn } from './sign-in.ts';
import { logFailedSignIn } from './sign-in-log.ts';

// An account is found by its Google subject and by nothing else: an address can move from one person to another, a subject
// cannot. An attacker may also have registered the address before its owner came, to share the account unseen. So an
// account with a password is linked to a Google account only where Google is the authority for the address, and the link
// removes the password and ends the sessions.

export interface GoogleDependencies {
  readonly databaseFor: DatabaseFor;
  readonly log: Logger;
  readonly settings: ControlPlaneSettings;
  /** Undefined while signing in with Google is not configured. */
  readonly tokens: GoogleTokens | undefined;
}

export function google({ databaseFor, log, settings, tokens }: GoogleDependencies) {
  return withoutSession(
    auth.google,
    async ({ body, cookies, sourceIp, recorderFor, network, requestId, gone }) => {
      if (!tokens) throw unavailable('Signing in with Google is not set up on this service.');
      let credential: GoogleCredential | undefined;
      try {
        // Before any database connection is held, because this may wait for the issuer.
        credential = await readGoogleCredential(body.credential, body.nonce, tokens);
        const database = databaseFor(`google ${credential.subject}`, gone);
        if (body.organization_name !== undefined && (await isNewcomer(database, credential))) {
          await countRegistration(database, network, settings);
        }
        const isForOnce = body.nonce !== undefined;
        const newcomer = { credential, isForOnce, organizationName: body.organization_name, recorderFor };
        return await database.transaction(async (tx) => {
          const row = await findOrCreate(tx, newcomer, settings);
          return signIn(tx, row, { cookies, recorderFor });
        });
      } catch (error) {
        if (!(error instanceof IdentityError)) throw error;
        const emailHash = credential && hashOf(credential.email.toLowerCase());
        logFailedSignIn(log, 'google', { requestId, sourceIp, reason: error.reason, emailHash });
        throw notAuthenticated('Invalid Google credential.');
      }
    },
  );
}

/** True if the sign-in would create an account, by a first look. Sign-ins to existing accounts are not limited. */
async function isNewcomer(database: Queryable, { subject, email }: GoogleCredential): Promise<boolean> {
  const found = await database.one(queries.findIsNewcomer, {
    googleSubject: subject,
    email: email.trim().toLowerCase(),
  });
  return found?.isNewcomer === true;
}

interface Newcomer {
  readonly credential: GoogleCredential;
  /** The token cannot be used again. */
  readonly isForOnce: boolean;
  readonly organizationName: string | undefined;
  readonly recorderFor: RecorderFor<'member.joined' | 'budget.deposited'>;
}

/** The active account of the credential. An error rolls back everything, including the use of the token. */
async function findOrCreate(
  tx: Transaction,
  { credential, isForOnce, organizationName: named, recorderFor }: Newcomer,
  settings: ControlPlaneSettings,
): Promise<queries.AccountRow> {
  const { subject, hostedDomain } = credential;
  // Of several first sign-ins at once, one creates the account and the others find it.
  await tx.run(queries.lockGoogleSubject, { googleSubject: subject });
  if (!(await isUnused(tx, credential, isForOnce))) throw new IdentityError('used before');
  const known = await tx.one(queries.findGoogleAccount, { googleSubject: subject });
  if (known) return activeOnly(known);

  const read = auth.register.body.shape.email.safeParse(credential.email);
  if (!read.success) {
    throw badRequest(
      `The Google account's e-mail address cannot be used here: ${read.error.issues[0]?.message ?? 'it is none.'}`,
    );
  }
  const email = read.data;
  const holder = await tx.one(queries.lockAccount, { email });
  if (holder) {
    if (holder.isGoogleLinked || !isGoogleAuthoritative(email, hostedDomain)) {
      throw conflict('The e-mail address has an account that this Google account does not open.');
    }
    activeOnly(holder);
    await tx.run(queries.updateGoogleSubject, { userId: holder.userId, googleSubject: subject });
    await tx.run(queries.deleteSessionsOfUser, { userId: holder.userId });
    await tx.run(queries.deleteFailures, { emailHash: hashOf(email) });
    return holder;
  }

  if (named === undefined) {
    throw badRequest('This Google account is new here: organization_name must name its organisation.');
  }
  const name = organizationName(named);
  if ('issue' in name) throw badRequest(name.issue);
  return createAccount(
    tx,
    { email, organizationName: name, passwordHash: null, googleSubject: subject, recorderFor },
    settings,
  );
}

/** A request that names the nonce uses the token up: it signs in once, and never again with or without the nonce. */
async function isUnused(tx: Transaction, credential: GoogleCredential, isForOnce: boolean): Promise<boolean> {
  const { hash, hasNonce, acceptedUntilSeconds } = credential;
  if (isForOnce)
    return (
      (await tx.run(queries.insertUsedCredential, {
        credentialHash: hash,
        expiresAtSeconds: acceptedUntilSeconds,
      })) > 0
    );
  return !hasNonce || (await tx.one(queries.findUsedCredential, { credentialHash: hash })) === undefined;
}

function activeOnly<Row extends { readonly isActive: boolean }>(row: Row): Row {
  if (!row.isActive) throw new IdentityError('deactivated');
  return row;
}

function hashOf(email: string): Buffer {
  return createHash('sha256').update(email).digest();
}
