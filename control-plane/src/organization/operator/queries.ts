import type { OrganizationId, ProjectId } from '@gatehouse/contract';
import { sql } from '@gatehouse/store';
import { tenantStatement } from '../../tenant-statement.ts';

interface OrganizationOnly {
  readonly organizationId: OrganizationId;
}

export const updateProjectName = tenantStatement<OrganizationOnly & { projectId: ProjectId; name: string }>(
  'organization-update-project-name',
  sql`UPDATE projects SET name = ${'name'} WHERE id = ${'projectId'} AND organization_id = ${'organizationId'}`,
);

// The statements below delete an organisation, in this order: each row before those that it refers to. Its row, its
// projects, its revoked keys, its deposits and its activity log stay.

export const revokeAllKeys = tenantStatement<OrganizationOnly>(
  'organization-revoke-all-keys',
  sql`UPDATE api_keys SET revoked_at = clock_timestamp()
   WHERE organization_id = ${'organizationId'} AND revoked_at IS NULL`,
);

export const deletePreviousSecrets = tenantStatement<OrganizationOnly>(
  'organization-delete-previous-secrets',
  sql`DELETE FROM previous_secrets WHERE organization_id = ${'organizationId'}`,
);

export const deleteVaultKeys = tenantStatement<OrganizationOnly>(
  'organization-delete-vault-keys',
  sql`DELETE FROM vault_keys WHERE organization_id = ${'organizationId'}`,
);

export const deleteAlertChannels = tenantStatement<OrganizationOnly>(
  'organization-delete-alert-channels',
  sql`DELETE FROM alert_channels WHERE organization_id = ${'organizationId'}`,
);

export const deleteSpendLimits = tenantStatement<OrganizationOnly>(
  'organization-delete-spend-limits',
  sql`DELETE FROM spend_limits WHERE organization_id = ${'organizationId'}`,
);

export const deleteKeptItems = tenantStatement<OrganizationOnly>(
  'organization-delete-kept-items',
  sql`DELETE FROM kept_items WHERE organization_id = ${'organizationId'}`,
);

export const deleteAllAccounts = tenantStatement<OrganizationOnly>(
  'organization-delete-all-accounts',
  sql`DELETE FROM users WHERE organization_id = ${'organizationId'}`,
);

// No name has the character <, so the name is free for another organisation.
export const markDeleted = tenantStatement<OrganizationOnly>(
  'organization-mark-deleted',
  sql`UPDATE organizations SET deleted_at = clock_timestamp(), name_key = '<deleted ' || id || '>'
   WHERE id = ${'organizationId'} AND deleted_at IS NULL`,
);
