import { deleteAccount, findAccount } from '@gatehouse/control-plane/auth';
import type { Context } from '../../terminal/command.ts';
import { confirmation } from '../../terminal/confirm.ts';
import { counted, print, shown } from '../../terminal/output.ts';
import { change, noAccount, withDatabase } from '../database.ts';
import { operator } from '../operator.ts';
import { accountDocument, ownerRemark } from './account-document.ts';

export async function deleteUser(
  { email, yes }: { readonly email: string; readonly yes: string | undefined },
  context: Context,
): Promise<number> {
  const confirm = confirmation(context, yes);
  return withDatabase(context, async (database) => {
    const found = await findAccount(database, email);
    if (!found) throw noAccount(email);
    await confirm(`Delete ${found.email} of ${shown(found.organization.name)} for good?`);
    const done = await change('gatehouse user list', () => deleteAccount(database, email, operator));
    if (!done) throw noAccount(email);
    const { account, wasLastOwner, endedSessions } = done;
    print(
      context,
      {
        user: accountDocument(account),
        organization: account.organization,
        deleted: true,
        was_last_owner: wasLastOwner,
        ended_sessions: endedSessions,
      },
      [
        `${account.email} is deleted; ${counted(endedSessions, 'session')} ended.`,
        ...ownerRemark(account, wasLastOwner),
      ],
    );
    return 0;
  });
}
