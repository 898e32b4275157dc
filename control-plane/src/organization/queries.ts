import type { OrganizationId, ProjectId, Role, UserId } from '@gatehouse/contract';
import { type NoParameters, sql, statement } from '@gatehouse/store';
import { tenantStatement } from '../tenant-statement.ts';

interface OrganizationOnly {
  readonly organizationId: OrganizationId;
}

export const listMembers = tenantStatement<
  OrganizationOnly,
  { id: UserId; email: string; role: Role; createdAt: string }
>(
  'organization-list-members',
  sql`SELECT id, email, role, created_at FROM users
   WHERE organization_id = ${'organizationId'} ORDER BY created_at, id`,
);

/** A project of an organisation. */
export interface Project {
  readonly id: ProjectId;
  readonly name: string;
  readonly createdAt: string;
  /** True if its requests may use the platform's credentials after the organisation's own key failed. */
  readonly byokFallback: boolean;
}

export const listProjects = tenantStatement<OrganizationOnly, Project>(
  'organization-list-projects',
  sql`SELECT id, name, created_at, byok_fallback FROM projects
   WHERE organization_id = ${'organizationId'} ORDER BY created_at, id`,
);

export const insertOrganization = statement<{ name: string; nameKey: string }, { id: OrganizationId }>(
  'organization-insert',
  sql`INSERT INTO organizations (name, name_key) VALUES (${'name'}, ${'nameKey'})
   ON CONFLICT (name_key) DO NOTHING
   RETURNING id`,
);

// The share lock keeps the name from changing before the account that joins by it is inserted.
export const findOrganizationByName = statement<
  { nameKey: string },
  { id: OrganizationId; name: string; ownerEmail: string | null }
>(
  'organization-find-by-name',
  sql`SELECT o.id, o.name,
          (SELECT u.email FROM users u WHERE u.organization_id = o.id AND u.role = 'owner' ORDER BY u.created_at LIMIT 1)
            AS owner_email
   FROM organizations o WHERE o.name_key = ${'nameKey'}
   FOR SHARE OF o`,
);

export const updateOrganizationName = tenantStatement<OrganizationOnly & { name: string; nameKey: string }>(
  'organization-update-name',
  sql`UPDATE organizations SET name = ${'name'}, name_key = ${'nameKey'} WHERE id = ${'organizationId'}`,
);

export const insertProject = tenantStatement<OrganizationOnly & { name: string }, Project>(
  'organization-insert-project',
  sql`INSERT INTO projects (organization_id, name) VALUES (${'organizationId'}, ${'name'})
   RETURNING id, name, created_at, byok_fallback`,
);

export const insertBalance = tenantStatement<OrganizationOnly>(
  'organization-insert-balance',
  sql`INSERT INTO balances (organization_id) VALUES (${'organizationId'})`,
);

/**
 * Adds a deposit, or with a negative amount takes one back. Returns no row where the total would exceed a bigint; the
 * caller must then fail the transaction.
 */
export const insertDeposit = tenantStatement<
  OrganizationOnly & { amountMicroPkr: bigint; note: string | null },
  { depositedMicroPkr: bigint }
>(
  'organization-insert-deposit',
  sql`WITH deposit AS (
     INSERT INTO deposits (organization_id, amount_micro_pkr, note)
     VALUES (${'organizationId'}, ${'amountMicroPkr'}, ${'note'})
     RETURNING organization_id, amount_micro_pkr
   )
   UPDATE balances b SET deposited_micro_pkr = b.deposited_micro_pkr + deposit.amount_micro_pkr
   FROM deposit
   WHERE b.organization_id = deposit.organization_id
     AND b.deposited_micro_pkr <= 9223372036854775807 - greatest(deposit.amount_micro_pkr, 0)
   RETURNING b.deposited_micro_pkr`,
);

export const lockOrganizationRow = tenantStatement<OrganizationOnly>(
  'organization-lock',
  sql`SELECT FROM organizations WHERE id = ${'organizationId'} FOR NO KEY UPDATE`,
);

// The statements below are the operator's, who is not a member of any organisation.

// The sum of the limits is stable only under the organisation's lock. Expired keys count: they can be extended.
export const lockBalance = tenantStatement<
  OrganizationOnly,
  { depositedMicroPkr: bigint; spentMicroPkr: bigint; heldMicroPkr: bigint; limitsMicroPkr: bigint }
>(
  'organization-lock-balance',
  sql`SELECT deposited_micro_pkr, spent_micro_pkr, held_micro_pkr,
          (SELECT coalesce(sum(k.credit_limit_micro_pkr), 0) FROM api_keys k
           WHERE k.organization_id = b.organization_id AND k.revoked_at IS NULL) AS limits_micro_pkr
   FROM balances b WHERE b.organization_id = ${'organizationId'}
   FOR NO KEY UPDATE`,
);

export const findOrganizationById = statement<{ id: string }, { id: OrganizationId; name: string }>(
  'organization-find-by-id',
  sql`SELECT id, name FROM organizations WHERE id = ${'id'} AND deleted_at IS NULL`,
);

export const findOrganizationByKey = statement<{ nameKey: string }, { id: OrganizationId; name: string }>(
  'organization-find-by-key',
  sql`SELECT id, name FROM organizations WHERE name_key = ${'nameKey'}`,
);

/** An organisation as an operator sees it in a list. */
export interface SummaryRow {
  readonly id: OrganizationId;
  readonly name: string;
  readonly createdAt: string;
  readonly members: bigint;
  readonly depositedMicroPkr: bigint;
  readonly spentMicroPkr: bigint;
  readonly heldMicroPkr: bigint;
}

const SUMMARY = sql`o.id, o.name, o.created_at,
  (SELECT count(*) FROM users u WHERE u.organization_id = o.id) AS members,
  b.deposited_micro_pkr, b.spent_micro_pkr, b.held_micro_pkr`;

export const hasOrganizations = statement<NoParameters, { has: boolean }>(
  'organization-has-any',
  sql`SELECT EXISTS (SELECT FROM organizations) AS has`,
);

export const listOrganizations = statement<NoParameters, SummaryRow>(
  'organization-list',
  sql`SELECT ${SUMMARY}
   FROM organizations o JOIN balances b ON b.organization_id = o.id
   WHERE o.deleted_at IS NULL
   ORDER BY o.created_at, o.id`,
);

export const findOverview = tenantStatement<
  OrganizationOnly,
  SummaryRow & { keys: bigint; deposits: bigint; activityRetentionDays: number | null }
>(
  'organization-find-overview',
  sql`SELECT ${SUMMARY}, o.activity_retention_days,
          (SELECT count(*) FROM api_keys k WHERE k.organization_id = o.id AND k.revoked_at IS NULL) AS keys,
          (SELECT count(*) FROM deposits d WHERE d.organization_id = o.id) AS deposits
   FROM organizations o JOIN balances b ON b.organization_id = o.id
   WHERE o.id = ${'organizationId'}`,
);

/** A deposit, or a withdrawal where the amount is negative. */
export interface DepositRow {
  readonly id: string;
  readonly amountMicroPkr: bigint;
  readonly note: string | null;
  readonly createdAt: string;
}

export const listDeposits = tenantStatement<OrganizationOnly & { limit: number }, DepositRow>(
  'organization-list-deposits',
  sql`SELECT id, amount_micro_pkr, note, created_at FROM deposits
   WHERE organization_id = ${'organizationId'} ORDER BY created_at DESC, id LIMIT ${'limit'}`,
);

export const updateByokFallback = tenantStatement<OrganizationOnly & { projectId: ProjectId; isOn: boolean }>(
  'organization-update-byok-fallback',
  sql`UPDATE projects SET byok_fallback = ${'isOn'}
   WHERE id = ${'projectId'} AND organization_id = ${'organizationId'}`,
);

export const updateRetention = tenantStatement<OrganizationOnly & { days: number | null }>(
  'organization-update-retention',
  sql`UPDATE organizations SET activity_retention_days = ${'days'} WHERE id = ${'organizationId'}`,
);
