import { deactivateAccount } from '@gatehouse/control-plane/auth';
import type { Context } from '../../terminal/command.ts';
import { print, warn } from '../../terminal/output.ts';
import { change, noAccount, withDatabase } from '../database.ts';
import { accountDocument, sessionsInWords } from './account-document.ts';
import { missingOwnerWarning } from './missing-owner.ts';

export function deactivateUser(email: string, context: Context): Promise<number> {
  return withDatabase(context, async (database) => {
    const done = await change('gatehouse user list', () => deactivateAccount(database, email));
    if (!done) throw noAccount(email);
    const { account, hasChanged, endedSessions } = done;
    print(
      context,
      {
        user: accountDocument(account),
        organization: account.organization,
        changed: hasChanged,
        ended_sessions: endedSessions,
      },
      [
        hasChanged
          ? `${account.email} is deactivated; ${sessionsInWords(endedSessions)} ended.`
          : `${account.email} was deactivated already; nothing changed.`,
      ],
    );
    const warning = missingOwnerWarning(done, false);
    if (warning !== undefined) warn(context, warning);
    return 0;
  });
}
