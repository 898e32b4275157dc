import { ACCESS_TOKEN_SECONDS, REFRESH_TOKEN_SECONDS, type Secret, type UserId } from '@gatehouse/contract';
import type { Database, Queryable, Transaction } from '@gatehouse/store';
import { accessCookie, refreshCookie, type SessionCookies } from '../http/cookies.ts';
import type { Session } from '../http/implement.ts';
import * as queries from './queries.ts';
import { hashToken, newToken } from './tokens.ts';

/** The live session of the access token. It is read from the database every time, so that an end takes effect at once. */
export async function findSession(database: Database, accessToken: Secret): Promise<Session | undefined> {
  const row = await database.one(queries.findSession, { tokenHash: hashToken(accessToken) });
  if (!row) return undefined;
  const { sessionId, ...account } = row;
  return { id: sessionId, ...account };
}

/** Starts a session and returns its cookies. */
export async function startSession(tx: Transaction, userId: UserId): Promise<string[]> {
  const refreshToken = newToken();
  const session = await tx.one(queries.insertSession, {
    userId,
    refreshTokenHash: hashToken(refreshToken),
    seconds: REFRESH_TOKEN_SECONDS,
  });
  if (!session) throw new Error('the session was not inserted');
  return [await issueAccessToken(tx, session.id), refreshCookie(refreshToken)];
}

/** A further access token for a session, as a cookie. Earlier ones keep their own lifetime. */
export async function issueAccessToken(tx: Queryable, sessionId: string): Promise<string> {
  const accessToken = newToken();
  await tx.run(queries.insertAccessToken, {
    tokenHash: hashToken(accessToken),
    sessionId,
    seconds: ACCESS_TOKEN_SECONDS,
  });
  return accessCookie(accessToken);
}

/** Ends the live sessions of the cookies (two when the cookies are of different sessions) and returns whose they were. */
export function endSessions(tx: Transaction, cookies: SessionCookies) {
  const { accessToken, refreshToken } = cookies;
  return tx.many(queries.deleteSessions, {
    accessTokenHash: accessToken === undefined ? null : hashToken(accessToken),
    refreshTokenHash: refreshToken === undefined ? null : hashToken(refreshToken),
  });
}
