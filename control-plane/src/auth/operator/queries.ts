import type { OrganizationId, UserId } from '@gatehouse/contract';
import { sql, statement } from '@gatehouse/store';
import { tenantStatement } from '../../tenant-statement.ts';
import { OVERVIEW, type OverviewRow } from '../queries.ts';

export const listAccounts = tenantStatement<{ organizationId: OrganizationId }, OverviewRow>(
  'auth-list-accounts',
  sql`SELECT ${OVERVIEW}
   FROM users u JOIN organizations o ON o.id = u.organization_id
   WHERE u.organization_id = ${'organizationId'}
   ORDER BY u.created_at, u.id`,
);

export const updateActive = statement<{ userId: UserId; isActive: boolean }>(
  'auth-update-active',
  sql`UPDATE users SET is_active = ${'isActive'} WHERE id = ${'userId'}`,
);

export const deleteUser = statement<{ userId: UserId }>(
  'auth-delete-user',
  sql`DELETE FROM users WHERE id = ${'userId'}`,
);

/** How many accounts of an organisation can still lead it. */
export const findLeaders = tenantStatement<
  { organizationId: OrganizationId },
  { owners: bigint; renamers: bigint }
>(
  'auth-find-leaders',
  sql`SELECT count(*) FILTER (WHERE role = 'owner') AS owners,
          count(*) FILTER (WHERE role IN ('owner', 'admin') AND is_active) AS renamers
   FROM users WHERE organization_id = ${'organizationId'}`,
);
