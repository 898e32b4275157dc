import type { OrganizationId, Role, UserId } from '@gatehouse/contract';
import type { Queryable } from '@gatehouse/store';
import * as queries from '../queries.ts';
import { comparableEmail } from '../rules.ts';

/** An account as an operator sees it. */
export interface AccountOverview {
  readonly userId: UserId;
  readonly email: string;
  readonly role: Role;
  readonly isActive: boolean;
  readonly hasPassword: boolean;
  readonly isGoogleLinked: boolean;
  readonly isOidcLinked: boolean;
  readonly joinedAt: string;
  readonly organization: { readonly id: OrganizationId; readonly name: string };
}

export function accountOverview(row: queries.OverviewRow): AccountOverview {
  const { organizationId, organizationName, ...account } = row;
  return { ...account, organization: { id: organizationId, name: organizationName } };
}

/** The account with this address, in any spelling that it can sign in with. */
export async function findAccount(database: Queryable, given: string): Promise<AccountOverview | undefined> {
  const email = comparableEmail(given);
  const row = email === undefined ? undefined : await database.one(queries.findAccount, { email });
  return row && accountOverview(row);
}
