import { createHash } from 'node:crypto';
import { auth, notAuthenticated, type Refusal, tooManyRequests } from '@gatehouse/contract';
import type { Database, Queryable } from '@gatehouse/store';
import { record } from '../activity/index.ts';
import { withoutSession } from '../http/implement.ts';
import type { ControlPlaneSettings } from '../settings.ts';
import { account } from './account.ts';
import type { Passwords } from './passwords.ts';
import * as queries from './queries.ts';
import { endSessions, startSession } from './sessions.ts';

// Guessing is bounded per address: so many failures within the window, and then nobody gets in with any
// password until the oldest of them has aged out. The failures are counted in the database, so that all nodes
// agree, and judged again after the password was checked, so that a burst of tries that all began below the
// limit learns nothing beyond it. Whoever has a session keeps it.

export function login(database: Database, passwords: Passwords, settings: ControlPlaneSettings) {
  return withoutSession(auth.login, async ({ body, cookies, sourceIp }) => {
    const emailHash = createHash('sha256').update(body.email).digest();
    const before = await delayRefusal(database, emailHash, settings);
    if (before) throw before;

    // The same work whatever is wrong: no account, no password, deactivated. Guarded by login.http.test.ts.
    const row = await database.one(queries.findCredentials, [body.email]);
    const isMatch = await passwords.matches(body.password, row?.password_hash ?? null);

    const outcome = await database.transaction(async (tx) => {
      await tx.run(queries.lockFailures, [emailHash]);
      const refusal = await delayRefusal(tx, emailHash, settings);
      if (refusal) return { refusal };
      // Read again under lock: the account may have been deactivated, or its password changed, meanwhile.
      if (!row || !isMatch || !(await tx.one(queries.lockActiveUser, [row.user_id, row.password_hash]))) {
        await tx.run(queries.insertFailure, [emailHash]);
        return { refusal: notAuthenticated('Invalid email or password.') };
      }
      await tx.run(queries.deleteFailures, [emailHash]);
      // The session that the browser came with would otherwise live on unseen (session fixation).
      await endSessions(tx, cookies);
      const setCookies = await startSession(tx, row.user_id);
      await record(tx, {
        organizationId: row.organization_id,
        actorUserId: row.user_id,
        action: 'user.login',
        target: row.email,
        sourceIp,
      });
      return { setCookies, body: account(row) };
    });
    if ('refusal' in outcome) throw outcome.refusal;
    return outcome;
  });
}

async function delayRefusal(
  database: Queryable,
  emailHash: Buffer,
  settings: ControlPlaneSettings,
): Promise<Refusal | undefined> {
  const delay = await database.one(queries.findSignInDelay, [
    emailHash,
    settings.signInAttempts,
    settings.signInWindowSeconds,
  ]);
  return (
    delay &&
    tooManyRequests(
      'Too many sign-ins for this e-mail address have failed. Try again later.',
      Math.max(1, delay.seconds),
    )
  );
}
