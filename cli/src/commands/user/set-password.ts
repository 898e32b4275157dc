import { Secret } from '@gatehouse/contract';
import { findAccount, setPassword } from '@gatehouse/control-plane/auth';
import type { Context } from '../../terminal/command.ts';
import { counted, print } from '../../terminal/output.ts';
import { change, noAccount, withDatabase } from '../database.ts';
import { accountDocument } from './account-document.ts';
import { readNewPassword } from './new-password.ts';

export function setUserPassword(email: string, context: Context): Promise<number> {
  return withDatabase(context, async (database) => {
    // Before asking for a password.
    if (!(await findAccount(database, email))) throw noAccount(email);
    const password = await readNewPassword(context.input(), context.err);
    const done = await change('a sign-in with the new password tells', () =>
      setPassword(database, email, new Secret(password)),
    );
    if (!done) throw noAccount(email);
    const { account, endedSessions } = done;
    print(
      context,
      {
        user: accountDocument(account),
        organization: account.organization,
        ended_sessions: endedSessions,
      },
      [
        `${account.email} has a new password; ${counted(endedSessions, 'session')} ended.`,
        ...(account.isActive
          ? []
          : ['The account is still deactivated: gatehouse user activate lets it in.']),
      ],
    );
    return 0;
  });
}
