import { auth } from '@gatehouse/contract';
import { clearedCookies } from '../http/cookies.ts';
import { withoutSession } from '../http/implement.ts';
import type { DatabaseFor } from '../scheduling.ts';
import { endSessions } from './sessions.ts';
import { tenantOfToken } from './tokens.ts';

export function logout(databaseFor: DatabaseFor) {
  return withoutSession(auth.logout, async ({ cookies, recorderFor, gone }) => {
    const { refreshToken, accessToken } = cookies;
    const database = databaseFor(tenantOfToken(refreshToken ?? accessToken), gone);
    await database.transaction(async (tx) => {
      for (const ended of await endSessions(tx, cookies)) {
        // The session of a deactivated account had ended before, so there is no sign-out to record.
        if (!ended.isActive) continue;
        const record = recorderFor({ organizationId: ended.organizationId, actorUserId: ended.userId });
        await record(tx, 'user.logout', ended.email);
      }
    });
    return { body: { message: 'Signed out.' }, setCookies: clearedCookies() };
  });
}
