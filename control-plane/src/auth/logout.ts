import { auth } from '@gatehouse/contract';
import { clearedCookies } from '../http/cookies.ts';
import { withoutSession } from '../http/implement.ts';
import type { DatabaseFor } from '../scheduling.ts';
import { endSessions } from './sessions.ts';

export function logout(databaseFor: DatabaseFor) {
  return withoutSession(auth.logout, async ({ cookies, recorderFor, gone }) => {
    const { refreshToken, accessToken } = cookies;
    const database = databaseFor(`session ${refreshToken ?? accessToken}`, gone);
    await database.transaction(async (tx) => {
      for (const ended of await endSessions(tx, cookies)) {
        // The session of a deactivated account was none any more: nobody signs out.
        if (!ended.is_active) continue;
        const record = recorderFor({ organizationId: ended.organization_id, actorUserId: ended.user_id });
        await record(tx, 'user.logout', ended.email);
      }
    });
    return { body: { message: 'Signed out.' }, setCookies: clearedCookies() };
  });
}
