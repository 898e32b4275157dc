import { Secret } from '@gatehouse/contract';
import { createMember } from '@gatehouse/control-plane/auth';
import type { Context } from '../../terminal/command.ts';
import { print, shown } from '../../terminal/output.ts';
import { change, requireOrganization, withDatabase } from '../database.ts';
import { operator } from '../operator.ts';
import { accountDocument } from './account-document.ts';
import { readNewPassword } from './new-password.ts';
import { readRole } from './role.ts';

export interface CreateArguments {
  readonly email: string;
  readonly org: string;
  readonly role: string | undefined;
  readonly 'no-password': string | undefined;
}

export function createUser(args: CreateArguments, context: Context): Promise<number> {
  const role = readRole('--role', args.role ?? 'member');
  return withDatabase(context, async (database) => {
    // Before asking for a password.
    const organization = await requireOrganization(database, args.org);
    const password =
      args['no-password'] === undefined
        ? new Secret(await readNewPassword(context.input(), context.err))
        : undefined;
    const member = { email: args.email, organizationId: organization.id, role, password };
    const account = await change('gatehouse user list', () => createMember(database, member, operator));
    print(context, { user: accountDocument(account), organization }, [
      `${account.email} is ${role} of ${shown(organization.name)}${password ? '' : ', and signs in with Google or single sign-on; gatehouse user set-password gives it a password'}.`,
    ]);
    return 0;
  });
}
