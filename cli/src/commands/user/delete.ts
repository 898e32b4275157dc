import { deleteAccount } from '@gatehouse/control-plane';
import type { Context } from '../command.ts';
import { change, noAccount, withDatabase } from '../database.ts';
import { print, warn } from '../output.ts';
import { accountDocument, sessionsInWords } from './account-document.ts';
import { leaderlessWarning } from './leaders.ts';

export function deleteUser(email: string, context: Context): Promise<number> {
  return withDatabase(context, async (database) => {
    const done = await change('gatehouse user list', () => deleteAccount(database, email));
    if (!done) throw noAccount(email);
    const { account, endedSessions } = done;
    print(
      context,
      {
        user: accountDocument(account),
        organization: account.organization,
        deleted: true,
        ended_sessions: endedSessions,
      },
      [`${account.email} is deleted; ${sessionsInWords(endedSessions)} ended.`],
    );
    const warning = leaderlessWarning(done, true);
    if (warning !== undefined) warn(context, warning);
    return 0;
  });
}
