import type { OrganizationId } from '@gatehouse/contract';
import type { Queryable } from '@gatehouse/store';
import { type AccountOverview, accountOverview } from './account-overview.ts';
import * as queries from './queries.ts';

/** The accounts of the organisation, in the order of joining. */
export async function listAccounts(
  database: Queryable,
  organizationId: OrganizationId,
): Promise<AccountOverview[]> {
  return (await database.many(queries.listAccounts, { organizationId })).map(accountOverview);
}
