import { type AccountOverview, listAccounts } from '@gatehouse/control-plane/auth';
import type { Context } from '../../terminal/command.ts';
import { columns, minute, print, shown } from '../../terminal/output.ts';
import { requireOrganization, withDatabase } from '../database.ts';
import { accountDocument } from './account-document.ts';

export function listUsers(reference: string, context: Context): Promise<number> {
  return withDatabase(context, async (database) => {
    const organization = await requireOrganization(database, reference);
    const accounts = await listAccounts(database, organization.id);
    const rows = accounts.map((account) => [
      shown(account.email),
      account.role,
      account.isActive ? 'yes' : 'no',
      signsInWith(account),
      minute(account.joinedAt),
    ]);
    print(
      context,
      { organization, users: accounts.map(accountDocument) },
      rows.length === 0
        ? [`${shown(organization.name)} has no accounts.`]
        : columns([['EMAIL', 'ROLE', 'ACTIVE', 'SIGNS IN WITH', 'JOINED (UTC)'], ...rows]),
    );
    return 0;
  });
}

function signsInWith({ hasPassword, isGoogleLinked, isOidcLinked }: AccountOverview): string {
  const ways = [
    ...(hasPassword ? ['password'] : []),
    ...(isGoogleLinked ? ['Google'] : []),
    ...(isOidcLinked ? ['OpenID'] : []),
  ];
  return ways.join(', ') || 'nothing';
}
