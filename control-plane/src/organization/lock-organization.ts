import type { OrganizationId } from '@gatehouse/contract';
import type { Transaction } from '@gatehouse/store';
import { lockOrganizationRow } from './queries.ts';

/**
 * Serialises changes of the organisation's keys, projects and roles, and withdrawals of credit, until the commit. Locking
 * the keys' rows is not enough: minting inserts a row after the sum of the limits was checked. Take this lock before the
 * row of any key or account. Inserting rows that refer to the organisation, such as activity entries, does not wait for it.
 */
export async function lockOrganization(tx: Transaction, organizationId: OrganizationId): Promise<void> {
  await tx.run(lockOrganizationRow, { organizationId });
}
