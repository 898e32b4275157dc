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
import {
  type GoogleCredential,
  GoogleRefused,
  type GoogleTokens,
  readGoogleCredential,
} from './google-credential.ts';
import { isGoogleAuthoritative } from './google-rules.ts';
import * as queries from './queries.ts';
import { countRegistration } from './registrations.ts';
import { signIn } from './sign-in.ts';
import { logFailedSignIn } from './sign-in-log.ts';

// An account is found by the subject that Google gave it and by nothing else: an address goes from one person to
// another, a subject does not. Somebody may also have registered the address before its owner came, to share the
// account with them unseen. So an account with a password becomes the Google account's only where Google itself
// decides who has the address, and then whoever had the password has nothing any more.

export interface GoogleParts {
  readonly databaseFor: DatabaseFor;
  readonly log: Logger;
  readonly settings: ControlPlaneSettings;
  /** Undefined while signing in with Google is not set up. */
  readonly tokens: GoogleTokens | undefined;
}

export function google({ databaseFor, log, settings, tokens }: GoogleParts) {
  return withoutSession(
    auth.google,
    async ({ body, cookies, sourceIp, recorderFor, network, requestId, gone }) => {
      if (!tokens) throw unavailable('Signing in with Google is not set up on this service.');
      let credential: GoogleCredential | undefined;
      try {
        // Before anything of the database is held: this may have to wait for the issuer.
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
        if (!(error instanceof GoogleRefused)) throw error;
        const emailHash = credential && hashOf(credential.email.toLowerCase());
        logFailedSignIn(log, 'google', { requestId, sourceIp, reason: error.reason, emailHash });
        throw notAuthenticated('Invalid Google credential.');
      }
    },
  );
}

/** Whether signing in would make an account, by a first look. Sign-ins to existing accounts are not limited. */
async function isNewcomer(database: Queryable, { subject, email }: GoogleCredential): Promise<boolean> {
  const found = await database.one(queries.findIsNewcomer, [subject, email.trim().toLowerCase()]);
  return found?.is_newcomer === true;
}

interface Newcomer {
  readonly credential: GoogleCredential;
  /** The token is used up by this. */
  readonly isForOnce: boolean;
  readonly organizationName: string | undefined;
  readonly recorderFor: RecorderFor<'member.joined' | 'budget.deposited'>;
}

/** The active account that the credential opens. Whatever it throws undoes all of it, the use of the token included. */
async function findOrCreate(
  tx: Transaction,
  { credential, isForOnce, organizationName: named, recorderFor }: Newcomer,
  settings: ControlPlaneSettings,
): Promise<queries.AccountRow> {
  const { subject, hostedDomain } = credential;
  // Of several first sign-ins at once, one makes the account and the others find it.
  await tx.run(queries.lockGoogleSubject, [subject]);
  if (!(await isUnused(tx, credential, isForOnce))) throw new GoogleRefused('used before');
  const known = await tx.one(queries.findGoogleAccount, [subject]);
  if (known) return activeOnly(known);

  const read = auth.register.body.shape.email.safeParse(credential.email);
  if (!read.success) {
    throw badRequest(
      `The Google account's e-mail address cannot be used here: ${read.error.issues[0]?.message ?? 'it is none.'}`,
    );
  }
  const email = read.data;
  const holder = await tx.one(queries.lockAccount, [email]);
  if (holder) {
    if (holder.is_google_linked || !isGoogleAuthoritative(email, hostedDomain)) {
      throw conflict('The e-mail address has an account that this Google account does not open.');
    }
    activeOnly(holder);
    await tx.run(queries.updateGoogleSubject, [holder.user_id, subject]);
    await tx.run(queries.deleteSessionsOfUser, [holder.user_id]);
    await tx.run(queries.deleteFailures, [hashOf(email)]);
    return holder;
  }

  if (named === undefined) {
    throw badRequest('This Google account is new here: organization_name must name its organisation.');
  }
  const name = organizationName(named);
  if ('fault' in name) throw badRequest(name.fault);
  return createAccount(
    tx,
    { email, organizationName: name, passwordHash: null, googleSubject: subject, recorderFor },
    settings,
  );
}

/** A page that names the nonce has the token used up by it: nobody signs in with it again, nonce or no nonce. */
async function isUnused(tx: Transaction, credential: GoogleCredential, isForOnce: boolean): Promise<boolean> {
  const { hash, hasNonce, acceptedUntilSeconds } = credential;
  if (isForOnce) return (await tx.run(queries.insertUsedCredential, [hash, acceptedUntilSeconds])) > 0;
  return !hasNonce || (await tx.one(queries.findUsedCredential, [hash])) === undefined;
}

function activeOnly<Row extends { readonly is_active: boolean }>(row: Row): Row {
  if (!row.is_active) throw new GoogleRefused('deactivated');
  return row;
}

function hashOf(email: string): Buffer {
  return createHash('sha256').update(email).digest();
}
