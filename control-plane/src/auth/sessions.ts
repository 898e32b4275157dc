import { ACCESS_TOKEN_SECONDS, REFRESH_TOKEN_SECONDS } from '@gatehouse/contract';
import type { Database, Queryable, Transaction } from '@gatehouse/store';
import { accessCookie, refreshCookie, type SessionCookies } from '../http/cookies.ts';
import type { Session } from '../http/implement.ts';
import * as queries from './queries.ts';
import { hashToken, newToken } from './tokens.ts';

/** The session that holds the access token right now. Read from the database every time, so an end is immediate. */
export async function findSession(database: Database, accessToken: string): Promise<Session | undefined> {
  const row = await database.one(queries.findSession, [hashToken(accessToken)]);
  return (
    row && {
      id: row.session_id,
      userId: row.user_id,
      email: row.email,
      role: row.role,
      joinedAt: row.joined_at,
      organizationId: row.organization_id,
      organizationName: row.organization_name,
    }
  );
}

/** Begins a session and returns the cookies that carry it. */
export async function startSession(tx: Transaction, userId: string): Promise<string[]> {
  const refreshToken = newToken();
  const session = await tx.one(queries.insertSession, [
    userId,
    hashToken(refreshToken),
    REFRESH_TOKEN_SECONDS,
  ]);
  if (!session) throw new Error('the session was not inserted');
  return [await issueAccessToken(tx, session.id), refreshCookie(refreshToken)];
}

/** A further access token for a session, as a cookie. Those issued before keep their own lifetime. */
export async function issueAccessToken(tx: Queryable, sessionId: string): Promise<string> {
  const accessToken = newToken();
  await tx.run(queries.insertAccessToken, [hashToken(accessToken), sessionId, ACCESS_TOKEN_SECONDS]);
  return accessCookie(accessToken);
}

/** Ends the live sessions that the cookies prove (two at most, when they were mixed), and says whose they were. */
export function endSessions(tx: Transaction, cookies: SessionCookies) {
  const { accessToken, refreshToken } = cookies;
  return tx.many(queries.deleteSessions, [
    accessToken === undefined ? null : hashToken(accessToken),
    refreshToken === undefined ? null : hashToken(refreshToken),
  ]);
}
