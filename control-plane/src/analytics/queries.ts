import { statement } from '@gatehouse/store';

// Names as they are now. What is revoked or deleted has none any more, and is shown with null.
export const listKeyNames = statement<{ id: string; name: string }>(
  'analytics-list-key-names',
  `SELECT id, name FROM api_keys
   WHERE organization_id = $1 AND id = ANY ($2::uuid[]) AND revoked_at IS NULL`,
);

export const listProjectNames = statement<{ id: string; name: string }>(
  'analytics-list-project-names',
  `SELECT id, name FROM projects WHERE organization_id = $1 AND id = ANY ($2::uuid[])`,
);
