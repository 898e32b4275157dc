import { statement } from '@gatehouse/store';

export const listRevokedKeys = statement<{ id: string; revokedAt: string }>(
  'keys-list-revoked',
  `SELECT id, revoked_at AS "revokedAt" FROM api_keys WHERE revoked_at IS NOT NULL ORDER BY revoked_at, id`,
);

export const findLiveKeys = statement<{ id: string; organizationId: string }>(
  'keys-find-live',
  `SELECT id, organization_id AS "organizationId" FROM api_keys
   WHERE id = ANY ($1::uuid[]) AND revoked_at IS NULL
   ORDER BY organization_id, id`,
);
