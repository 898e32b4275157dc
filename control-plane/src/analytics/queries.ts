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

// As they are now; of a revoked key all but its name, for its last limit is what refused its requests.
export const listThrottledKeys = statement<{
  id: string;
  name: string | null;
  rate_limit_rpm: number;
  project_id: string;
  project_name: string;
}>(
  'analytics-list-throttled-keys',
  `SELECT k.id, CASE WHEN k.revoked_at IS NULL THEN k.name END AS name, k.rate_limit_rpm, k.project_id,
          p.name AS project_name
   FROM api_keys k JOIN projects p ON p.id = k.project_id
   WHERE k.organization_id = $1 AND k.id = ANY ($2::uuid[])`,
);
