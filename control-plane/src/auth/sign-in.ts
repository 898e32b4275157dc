import type { Transaction } from '@gatehouse/store';
import type { SessionCookies } from '../http/cookies.ts';
import type { Reply } from '../http/implement.ts';
import type { RecorderFor } from '../http/recorder.ts';
import { account } from './account.ts';
import type { AccountRow } from './queries.ts';
import { endSessions, startSession } from './sessions.ts';

/** Signs in an account that has proven its identity, and records it. Returns the reply with the cookies of the new session. */
export async function signIn(
  tx: Transaction,
  row: AccountRow,
  {
    cookies,
    recorderFor,
  }: { readonly cookies: SessionCookies; readonly recorderFor: RecorderFor<'user.login'> },
): Promise<Reply<ReturnType<typeof account>>> {
  // The browser's earlier session would otherwise stay usable (session fixation).
  await endSessions(tx, cookies);
  const setCookies = await startSession(tx, row.userId);
  const record = recorderFor({ organizationId: row.organizationId, actorUserId: row.userId });
  await record(tx, 'user.login', row.email);
  return { setCookies, body: account(row) };
}
