import { auth } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { record } from '../activity/index.ts';
import { clearedCookies } from '../http/cookies.ts';
import { withoutSession } from '../http/implement.ts';
import { endSessions } from './sessions.ts';

export function logout(database: Database) {
  return withoutSession(auth.logout, async ({ cookies, sourceIp }) => {
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
