import type { OrganizationId, Role, UserId } from '@gatehouse/contract';
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

export const updateRole = statement<{ userId: UserId; role: Role }>(
  'auth-update-role',
  sql`UPDATE users SET role = ${'role'} WHERE id = ${'userId'}`,
);

export const findOtherOwner = tenantStatement<
  { organizationId: OrganizationId; userId: UserId },
  { id: UserId }
>(
  'auth-find-other-owner',
  sql`SELECT id FROM users
   WHERE organization_id = ${'organizationId'} AND role = 'owner' AND is_active AND id <> ${'userId'}
   LIMIT 1`,
);
