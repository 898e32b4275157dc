import { setRole } from '@gatehouse/control-plane/auth';
import type { Context } from '../../terminal/command.ts';
import { print, shown } from '../../terminal/output.ts';
import { change, noAccount, withDatabase } from '../database.ts';
import { operator } from '../operator.ts';
import { accountDocument, ownerRemark } from './account-document.ts';
import { readRole } from './role.ts';

export function setUserRole(
  args: { readonly email: string; readonly role: string },
  context: Context,
): Promise<number> {
  const role = readRole('ROLE', args.role);
  return withDatabase(context, async (database) => {
    const done = await change('gatehouse user list', () => setRole(database, args.email, role, operator));
    if (!done) throw noAccount(args.email);
    const { account, hasChanged, wasLastOwner } = done;
    const { organization } = account;
    const document = {
      user: accountDocument(account),
      organization,
      changed: hasChanged,
      was_last_owner: wasLastOwner,
    };
    print(context, document, [
      hasChanged
        ? `${account.email} is ${role} of ${shown(organization.name)} from the next request on.`
        : `${account.email} was ${role} of ${shown(organization.name)} already; nothing changed.`,
      ...ownerRemark(account, wasLastOwner),
    ]);
    return 0;
  });
}
