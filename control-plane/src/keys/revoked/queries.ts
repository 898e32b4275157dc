import type { KeyId, OrganizationId } from '@gatehouse/contract';
import { type NoParameters, sql, statement } from '@gatehouse/store';

export const listRevokedKeys = statement<NoParameters, { id: KeyId; revokedAt: string }>(
  'keys-list-revoked',
  sql`SELECT id, revoked_at FROM api_keys WHERE revoked_at IS NOT NULL ORDER BY revoked_at, id`,
);

export const findLiveKeys = statement<
  { keyIds: readonly KeyId[] },
  { id: KeyId; organizationId: OrganizationId }
>(
  'keys-find-live',
  sql`SELECT id, organization_id FROM api_keys
      WHERE id = ANY (${'keyIds'}::uuid[]) AND revoked_at IS NULL
      ORDER BY organization_id, id`,
);
