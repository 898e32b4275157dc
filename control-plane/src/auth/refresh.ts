import { auth, unauthorized } from '@gatehouse/contract';
import { withoutSession } from '../http/implement.ts';
import type { DatabaseFor } from '../scheduling.ts';
import { account } from './account.ts';
import * as queries from './queries.ts';
import { issueAccessToken } from './sessions.ts';
import { hashToken, tenantOfToken } from './tokens.ts';

export function refresh(databaseFor: DatabaseFor) {
  return withoutSession(auth.refresh, async ({ cookies, gone }) => {
    const { refreshToken } = cookies;
    if (refreshToken === undefined) throw unauthorized();
    return databaseFor(tenantOfToken(refreshToken), gone).transaction(async (tx) => {
      const row = await tx.one(queries.findRefreshableSession, {
        tokenHash: hashToken(refreshToken),
      });
      if (!row) throw unauthorized();
      return { body: account(row), setCookies: [await issueAccessToken(tx, row.sessionId)] };
    });
  });
}
