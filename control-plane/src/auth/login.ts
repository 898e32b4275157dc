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
import { requirePasswords } from './rules.ts';
import { signIn } from './sign-in.ts';
import { logFailedSignIn } from './sign-in-log.ts';

// Guessing is limited per address. After so many failures within the window, no password is accepted until the oldest of
// them has aged out. A success takes no failure back, because guessing continues while the owner signs in. The database
// counts the failures, so that all nodes agree. The limit is checked again after the password, so that a burst of attempts
// that began below the limit learns nothing beyond it. Live sessions are not affected.

/** A failed sign-in: the caller's answer, and the reason that only the log has. */
interface Rejection {
  readonly error: ApiError;
  readonly reason: string;
}

type Checked = Pick<Attempt, 'row' | 'isMatch' | 'renewedHash'>;
type SignedIn = Reply<ReturnType<typeof account>>;

export interface LoginDependencies {
  readonly databaseFor: DatabaseFor;
  readonly passwords: Passwords;
  readonly settings: ControlPlaneSettings;
  readonly log: Logger;
}

export function login({ databaseFor, passwords, settings, log }: LoginDependencies) {
  return withoutSession(auth.login, async ({ body, cookies, sourceIp, recorderFor, requestId, gone }) => {
    requirePasswords(settings);
    const emailHash = createHash('sha256').update(body.email).digest();
    const database = databaseFor(`email ${emailHash.toString('hex')}`, gone);
    const caller = { sourceIp, email: body.email, gone };
    // The permit is released after the hash, so that a request that waits for a lock does not block other sign-ins.
    const check = () =>
      passwords.queued(caller, async (): Promise<{ rejected: Rejection } | Checked> => {
        const rejected = await findDelay(database, emailHash, settings);
        if (rejected) return { rejected };
        // The same work whatever is wrong: no account, no password, deactivated. Guarded by login-work.test.ts.
        const row = await database.one(queries.findCredentials, { email: body.email });
        const stored = row?.passwordHash ?? null;
        const isMatch = await passwords.matches(body.password, stored);
        const renewedHash =
          isMatch && stored !== null ? await passwords.renewed(body.password, stored) : undefined;
        return { row, isMatch, renewedHash };
      });
    const attempt = async (isFirst: boolean): Promise<{ rejected: Rejection } | SignedIn> => {
      const checked = await check();
      if ('rejected' in checked) return checked;
      const settled = await database.transaction((tx) =>
        settle(tx, { ...checked, emailHash, cookies, recorderFor, isFirst }, settings),
      );
      return settled ?? attempt(false);
    };
    const outcome = await attempt(true);
    if (!('rejected' in outcome)) {
      passwords.remember(caller);
      return outcome;
    }
    logFailedSignIn(log, 'login', { requestId, sourceIp, reason: outcome.rejected.reason, emailHash });
    throw outcome.rejected.error;
  });
}

/** A sign-in whose password has been checked. */
interface Attempt {
  readonly emailHash: Buffer;
  readonly row: (queries.AccountRow & { readonly passwordHash: string | null }) | undefined;
  readonly isMatch: boolean;
  /** To be stored in the place of the hash that was compared. */
  readonly renewedHash: string | undefined;
  readonly isFirst: boolean;
  readonly cookies: SessionCookies;
  readonly recorderFor: RecorderFor<'user.login'>;
}

/** Undefined at first where another sign-in may have renewed the hash that the password matched. */
async function settle(
  tx: Transaction,
  { emailHash, row, isMatch, renewedHash, cookies, recorderFor, isFirst }: Attempt,
  settings: ControlPlaneSettings,
): Promise<{ rejected: Rejection } | SignedIn | undefined> {
  await tx.run(queries.lockFailures, { emailHash });
  const rejected = await findDelay(tx, emailHash, settings);
  if (rejected) return { rejected };
  // Read again under a lock: the account may have been deactivated, or its password changed, in the meantime.
  if (
    !row ||
    !isMatch ||
    !(await tx.one(queries.lockActiveUser, { userId: row.userId, passwordHash: row.passwordHash }))
  ) {
    if (renewedHash !== undefined && isFirst) return undefined;
    await tx.run(queries.insertFailure, { emailHash });
    const reason = !row ? 'unknown address' : isMatch ? 'deactivated' : 'wrong password';
    return { rejected: { error: notAuthenticated('Invalid email or password.'), reason } };
  }
  if (renewedHash !== undefined) {
    const { userId, passwordHash: earlierHash } = row;
    await tx.run(queries.updatePassword, { userId, passwordHash: renewedHash, earlierHash });
  }
  return signIn(tx, row, { cookies, recorderFor });
}

async function findDelay(
  database: Queryable,
  emailHash: Buffer,
  settings: ControlPlaneSettings,
): Promise<Rejection | undefined> {
  const delay = await database.one(queries.findSignInDelay, {
    emailHash,
    attempts: settings.signInAttempts,
    windowSeconds: settings.signInWindowSeconds,
  });
  return (
    delay && {
      error: tooManyRequests(
        'Too many sign-ins for this e-mail address have failed. Try again later.',
        Math.max(1, delay.seconds),
      ),
      reason: 'too many failures before',
    }
  );
}
