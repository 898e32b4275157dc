import type { Role } from '@gatehouse/contract';
import type { Queryable } from '@gatehouse/store';
import * as queries from './queries.ts';
import { comparableEmail } from './rules.ts';

/** An account as an operator sees it. */
export interface AccountOverview {
  readonly userId: string;
  readonly email: string;
  readonly role: Role;
  readonly isActive: boolean;
  readonly hasPassword: boolean;
  readonly isGoogleLinked: boolean;
  readonly joinedAt: string;
  readonly organization: { readonly id: string; readonly name: string };
}

export function accountOverview(row: queries.OverviewRow): AccountOverview {
  return {
    userId: row.user_id,
    email: row.email,
    role: row.role,
    isActive: row.is_active,
    hasPassword: row.has_password,
    isGoogleLinked: row.is_google_linked,
    joinedAt: row.joined_at,
    organization: { id: row.organization_id, name: row.organization_name },
  };
}

/** The account with this address, in any spelling that it can sign in with. */
export async function findAccount(database: Queryable, email: string): Promise<AccountOverview | undefined> {
  const row = await database.one(queries.findAccount, [comparableEmail(email)]);
  return row && accountOverview(row);
}
