import { activateAccount } from '@gatehouse/control-plane/auth';
import type { Context } from '../../terminal/command.ts';
import { print } from '../../terminal/output.ts';
import { change, noAccount, withDatabase } from '../database.ts';
import { operator } from '../operator.ts';
import { accountDocument } from './account-document.ts';

export function activateUser(email: string, context: Context): Promise<number> {
  return withDatabase(context, async (database) => {
    const done = await change('gatehouse user list', () => activateAccount(database, email, operator));
    if (!done) throw noAccount(email);
    const { account, hasChanged } = done;
    print(
      context,
      { user: accountDocument(account), organization: account.organization, changed: hasChanged },
      [
        hasChanged
          ? `${account.email} is active and can sign in.`
          : `${account.email} was active already; nothing changed.`,
      ],
    );
    return 0;
  });
}
