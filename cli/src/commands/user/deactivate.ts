import { deactivateAccount } from '@gatehouse/control-plane/auth';
import type { Context } from '../../terminal/command.ts';
import { counted, print } from '../../terminal/output.ts';
import { change, noAccount, withDatabase } from '../database.ts';
import { operator } from '../operator.ts';
import { accountDocument, ownerRemark } from './account-document.ts';

export function deactivateUser(email: string, context: Context): Promise<number> {
  return withDatabase(context, async (database) => {
    const done = await change('gatehouse user list', () => deactivateAccount(database, email, operator));
    if (!done) throw noAccount(email);
    const { account, hasChanged, wasLastOwner, endedSessions } = done;
    print(
      context,
      {
        user: accountDocument(account),
        organization: account.organization,
        changed: hasChanged,
        was_last_owner: wasLastOwner,
        ended_sessions: endedSessions,
      },
      [
        hasChanged
          ? `${account.email} is deactivated; ${counted(endedSessions, 'session')} ended.`
          : `${account.email} was deactivated already; nothing changed.`,
        ...ownerRemark(account, wasLastOwner),
      ],
    );
    return 0;
  });
}
