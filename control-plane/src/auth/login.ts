import { createHash } from 'node:crypto';
import { type ApiError, auth, notAuthenticated, tooManyRequests } from '@gatehouse/contract';
import type { Queryable, Transaction } from '@gatehouse/store';
import type { Logger } from 'pino';
import type { SessionCookies } from '../http/cookies.ts';
import { type Reply, withoutSession } from '../http/implement.ts';
import type { RecorderFor } from '../http/recorder.ts';
import type { DatabaseFor } from '../scheduling.ts';
import type { ControlPlaneSettings } from '../settings.ts';
import type { account } from './account.ts';
import type { Passwords } from './passwords.ts';
import * as queries from './queries.ts';
import { signIn } from './sign-in.ts';
import { logFailedSignIn } from './sign-in-log.ts';

// Guessing is bounded per address: so many failures within the window, and then nobody gets in with any
// password until the oldest of them has aged out. A success in between takes none of them back: guessing goes on while
// the owner signs in. The failures are counted in the database, so that all nodes
// agree, and judged again after the password was checked, so that a burst of tries that all began below the
// limit learns nothing beyond it. Whoever has a session keeps it.

/** What the caller is told, and what only the log is. */
interface Refused {
  readonly refusal: ApiError;
  readonly reason: string;
}

type Checked = Pick<Attempt, 'row' | 'isMatch'>;
type SignedIn = Reply<ReturnType<typeof account>>;

export interface LoginParts {
  readonly databaseFor: DatabaseFor;
  readonly passwords: Passwords;
  readonly settings: ControlPlaneSettings;
  readonly log: Logger;
}

export function login({ databaseFor, passwords, settings, log }: LoginParts) {
  return withoutSession(auth.login, async ({ body, cookies, sourceIp, recorderFor, requestId, gone }) => {
    const emailHash = createHash('sha256').update(body.email).digest();
    const database = databaseFor(`email ${emailHash.toString('hex')}`, gone);
    const caller = { sourceIp, email: body.email, gone };
    // The turn ends with the hash, so that a request that then waits for a lock does not block other sign-ins.
    const checked = await passwords.queued(caller, async (): Promise<{ refused: Refused } | Checked> => {
      const refused = await delayRefusal(database, emailHash, settings);
      if (refused) return { refused };
      // The same work whatever is wrong: no account, no password, deactivated. Guarded by login-work.test.ts.
      const row = await database.one(queries.findCredentials, [body.email]);
      return { row, isMatch: await passwords.matches(body.password, row?.password_hash ?? null) };
    });
    const outcome =
      'refused' in checked
        ? checked
        : await database.transaction((tx) =>
            settle(tx, { ...checked, emailHash, cookies, recorderFor }, settings),
          );
    if (!('refused' in outcome)) {
      passwords.remember(caller);
      return outcome;
    }
    logFailedSignIn(log, 'login', { requestId, sourceIp, reason: outcome.refused.reason, emailHash });
    throw outcome.refused.refusal;
  });
}

/** A sign-in whose password has been looked at. */
interface Attempt {
  readonly emailHash: Buffer;
  readonly row: (queries.AccountRow & { readonly password_hash: string | null }) | undefined;
  readonly isMatch: boolean;
  readonly cookies: SessionCookies;
  readonly recorderFor: RecorderFor<'user.login'>;
}

async function settle(
  tx: Transaction,
  { emailHash, row, isMatch, cookies, recorderFor }: Attempt,
  settings: ControlPlaneSettings,
): Promise<{ refused: Refused } | SignedIn> {
  await tx.run(queries.lockFailures, [emailHash]);
  const refused = await delayRefusal(tx, emailHash, settings);
  if (refused) return { refused };
  // Read again under lock: the account may have been deactivated, or its password changed, meanwhile.
  if (!row || !isMatch || !(await tx.one(queries.lockActiveUser, [row.user_id, row.password_hash]))) {
    await tx.run(queries.insertFailure, [emailHash]);
    const reason = !row ? 'unknown address' : isMatch ? 'deactivated' : 'wrong password';
    return { refused: { refusal: notAuthenticated('Invalid email or password.'), reason } };
  }
  return signIn(tx, row, { cookies, recorderFor });
}

async function delayRefusal(
  database: Queryable,
  emailHash: Buffer,
  settings: ControlPlaneSettings,
): Promise<Refused | undefined> {
  const delay = await database.one(queries.findSignInDelay, [
    emailHash,
    settings.signInAttempts,
    settings.signInWindowSeconds,
  ]);
  return (
    delay && {
      refusal: tooManyRequests(
        'Too many sign-ins for this e-mail address have failed. Try again later.',
        Math.max(1, delay.seconds),
      ),
      reason: 'too many failures before',
    }
  );
}
