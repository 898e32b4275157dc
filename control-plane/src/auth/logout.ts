import { auth } from '@gatehouse/contract';
import { record } from '../activity/index.ts';
import { clearedCookies } from '../http/cookies.ts';
import { withoutSession } from '../http/implement.ts';
import type { DatabaseFor } from '../scheduling.ts';
import { endSessions } from './sessions.ts';

export function logout(databaseFor: DatabaseFor) {
  return withoutSession(auth.logout, async ({ cookies, sourceIp, gone }) => {
    const { refreshToken, accessToken } = cookies;
    const database = databaseFor(`session ${refreshToken ?? accessToken}`, gone);
    await database.transaction(async (tx) => {
      for (const ended of await endSessions(tx, cookies)) {
        // The session of a deactivated account was none any more: nobody signs out.
        if (!ended.is_active) continue;
        await record(tx, {
          organizationId: ended.organization_id,
          actorUserId: ended.user_id,
          action: 'user.logout',
          target: ended.email,
          sourceIp,
        });
      }
    });
    return { body: { message: 'Signed out.' }, setCookies: clearedCookies() };
  });
}
