import type { Transaction } from '@gatehouse/store';
import type { SessionCookies } from '../http/cookies.ts';
import type { Reply } from '../http/implement.ts';
import type { RecorderFor } from '../http/recorder.ts';
import { account } from './account.ts';
import type { AccountRow } from './queries.ts';
import { endSessions, startSession } from './sessions.ts';

/** Signs somebody in who has proven who they are, and records it: the reply, with the cookies of the new session. */
export async function signIn(
  tx: Transaction,
  row: AccountRow,
  {
    cookies,
    recorderFor,
  }: { readonly cookies: SessionCookies; readonly recorderFor: RecorderFor<'user.login'> },
): Promise<Reply<ReturnType<typeof account>>> {
  // The session that the browser came with would otherwise live on unseen (session fixation).
  await endSessions(tx, cookies);
  const setCookies = await startSession(tx, row.user_id);
  const record = recorderFor({ organizationId: row.organization_id, actorUserId: row.user_id });
  await record(tx, 'user.login', row.email);
  return { setCookies, body: account(row) };
}
