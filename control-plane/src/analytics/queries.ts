import type { KeyId, keys, OrganizationId, ProjectId, UserId } from '@gatehouse/contract';
import { sql } from '@gatehouse/store';
import { type Owned, tenantStatement } from '../tenant-statement.ts';

// The ids of the telemetry store are texts: those of the request log may be of deleted or of unknown keys and projects.
interface IdsOfOrganization {
  readonly organizationId: OrganizationId;
  readonly ids: readonly string[];
}

// Current names. A revoked key has none and is shown with null.
export const listKeyNames = tenantStatement<IdsOfOrganization, { id: KeyId; name: string }>(
  'analytics-list-key-names',
  sql`SELECT id, name FROM api_keys
      WHERE organization_id = ${'organizationId'} AND id = ANY (${'ids'}::uuid[]) AND revoked_at IS NULL`,
);

export const listProjectNames = tenantStatement<IdsOfOrganization, { id: ProjectId; name: string }>(
  'analytics-list-project-names',
  sql`SELECT id, name FROM projects
      WHERE organization_id = ${'organizationId'} AND id = ANY (${'ids'}::uuid[])`,
);

/** A key as it is now. Of a revoked key everything but its name, because its last limit rejected its requests. */
export interface ThrottledKeyRow {
  readonly id: KeyId;
  readonly name: string | null;
  readonly rateLimitRpm: number;
  readonly projectId: ProjectId;
  readonly projectName: string;
}

export const listThrottledKeys = tenantStatement<IdsOfOrganization, ThrottledKeyRow>(
  'analytics-list-throttled-keys',
  sql`SELECT k.id, CASE WHEN k.revoked_at IS NULL THEN k.name END AS name, k.rate_limit_rpm, k.project_id,
             p.name AS project_name
      FROM api_keys k JOIN projects p ON p.id = k.project_id
      WHERE k.organization_id = ${'organizationId'} AND k.id = ANY (${'ids'}::uuid[])`,
);

export const listMemberNames = tenantStatement<IdsOfOrganization, { id: UserId; name: string }>(
  'analytics-list-member-names',
  sql`SELECT id, email AS name FROM users
      WHERE organization_id = ${'organizationId'} AND id = ANY (${'ids'}::uuid[])`,
);

// Of revoked keys too: neither ever changes. Null for a key that no member minted.
interface MemberOfOrganization {
  readonly organizationId: OrganizationId;
  readonly memberId: UserId;
}

export const findMember = tenantStatement<MemberOfOrganization, { id: UserId }>(
  'analytics-find-member',
  sql`SELECT id FROM users WHERE id = ${'memberId'} AND organization_id = ${'organizationId'}`,
);

/** The keys that a member minted, revoked ones too. */
export const listKeysOfMember = tenantStatement<
  MemberOfOrganization & { most: number },
  { id: Owned<'key'> }
>(
  'analytics-list-keys-of-member',
  sql`SELECT id FROM api_keys WHERE organization_id = ${'organizationId'} AND created_by = ${'memberId'} LIMIT ${'most'}`,
);

export const listKeyProperties = tenantStatement<
  IdsOfOrganization,
  { id: KeyId; environment: (typeof keys.ENVIRONMENTS)[number]; member: UserId | null }
>(
  'analytics-list-key-properties',
  sql`SELECT id, environment, created_by AS member FROM api_keys
      WHERE organization_id = ${'organizationId'} AND id = ANY (${'ids'}::uuid[])`,
);
