import type { KeyId, OrganizationId, ProjectId } from '@gatehouse/contract';
import { sql, statement } from '@gatehouse/store';
import { tenantStatement } from '../../tenant-statement.ts';
import type { Environment } from '../queries.ts';

/** A key as an operator sees it, with the organisation that it belongs to. */
export interface KeyOverviewRow {
  readonly id: KeyId;
  readonly name: string;
  readonly keyPrefix: string;
  readonly organizationId: OrganizationId;
  readonly organizationName: string;
  readonly projectId: ProjectId;
  readonly projectName: string;
  readonly environment: Environment;
  readonly rateLimitRpm: number;
  readonly creditLimitMicroPkr: bigint | null;
  readonly spentMicroPkr: bigint;
  readonly heldMicroPkr: bigint;
  readonly allowedModels: string[] | null;
  readonly expiresAt: string | null;
  readonly createdAt: string;
  /** Null for a key of an account that is gone, or that an operator made. */
  readonly createdBy: string | null;
  readonly revokedAt: string | null;
  /** The previous secret's, while it is accepted. */
  readonly previousKeyPrefix: string | null;
  readonly previousValidUntil: string | null;
  readonly previousLastUsedAt: string | null;
}

// Finished requests that are not settled count as spent, as they do in admission (store/src/postgres/functions/admit.sql).
const OVERVIEW = sql`SELECT k.id, k.name, k.key_prefix, k.organization_id, o.name AS organization_name,
          k.project_id, p.name AS project_name, k.environment, k.rate_limit_rpm, k.credit_limit_micro_pkr,
          k.spent_micro_pkr + k.unsettled_micro_pkr AS spent_micro_pkr,
          k.held_micro_pkr - k.unsettled_micro_pkr AS held_micro_pkr,
          k.allowed_models, k.expires_at, k.created_at, minted.email AS created_by, k.revoked_at,
          previous_key_prefix, previous_valid_until, previous_last_used_at
   FROM api_keys k
   JOIN organizations o ON o.id = k.organization_id
   JOIN projects p ON p.id = k.project_id
   LEFT JOIN LATERAL (SELECT u.email FROM users u WHERE u.id = k.created_by) AS minted ON true
   LEFT JOIN LATERAL (
     SELECT s.key_prefix AS previous_key_prefix, s.valid_until AS previous_valid_until,
            s.last_used_at AS previous_last_used_at
     FROM previous_secrets s
     WHERE s.key_id = k.id AND s.valid_until > clock_timestamp()) AS previous ON true`;

/** The keys of an organisation that are not revoked, newest first. */
export const listKeyOverviews = tenantStatement<{ organizationId: OrganizationId }, KeyOverviewRow>(
  'keys-list-overviews',
  sql`${OVERVIEW}
   WHERE k.organization_id = ${'organizationId'} AND k.revoked_at IS NULL
   ORDER BY k.created_at DESC, k.id`,
);

/** The keys of all organisations with this id, or with this prefix of either secret; those that are not revoked first. */
export const findKeyOverviews = statement<
  { id: string | null; prefix: string; limit: number },
  KeyOverviewRow
>(
  'keys-find-overviews',
  sql`${OVERVIEW}
   WHERE k.id = ${'id'}::uuid OR k.key_prefix = ${'prefix'} OR previous_key_prefix = ${'prefix'}
   ORDER BY k.revoked_at NULLS FIRST, k.created_at DESC, k.id
   LIMIT ${'limit'}`,
);
