import type { OrganizationId, Role } from '@gatehouse/contract';
import { statement } from '@gatehouse/store';

export const listMembers = statement<{ id: string; email: string; role: Role; created_at: string }>(
  'organization-list-members',
  `SELECT id, email, role, created_at FROM users WHERE organization_id = $1 ORDER BY created_at, id`,
);

export const listProjects = statement<{ id: string; name: string; created_at: string }>(
  'organization-list-projects',
  `SELECT id, name, created_at FROM projects WHERE organization_id = $1 ORDER BY created_at, id`,
);

export const insertOrganization = statement<{ id: OrganizationId }>(
  'organization-insert',
  `INSERT INTO organizations (name, name_key) VALUES ($1, $2)
   ON CONFLICT (name_key) DO NOTHING
   RETURNING id`,
);

// The share lock keeps the name from changing before the account that joins by it is there.
export const findOrganizationByName = statement<{
  id: OrganizationId;
  name: string;
  owner_email: string | null;
}>(
  'organization-find-by-name',
  `SELECT o.id, o.name,
          (SELECT u.email FROM users u WHERE u.organization_id = o.id AND u.role = 'owner' ORDER BY u.created_at LIMIT 1)
            AS owner_email
   FROM organizations o WHERE o.name_key = $1
   FOR SHARE OF o`,
);

export const updateOrganizationName = statement(
  'organization-update-name',
  `UPDATE organizations SET name = $2, name_key = $3 WHERE id = $1`,
);

export const insertProject = statement<{ id: string; name: string; created_at: string }>(
  'organization-insert-project',
  `INSERT INTO projects (organization_id, name) VALUES ($1, $2) RETURNING id, name, created_at`,
);

export const insertBalance = statement(
  'organization-insert-balance',
  `INSERT INTO balances (organization_id) VALUES ($1)`,
);

// No row where the total would be more than a bigint holds, which is the end of the deposit too: its transaction fails.
export const insertDeposit = statement<{ deposited_micro_pkr: bigint }>(
  'organization-insert-deposit',
  `WITH deposit AS (
     INSERT INTO deposits (organization_id, amount_micro_pkr, note) VALUES ($1, $2, $3)
     RETURNING organization_id, amount_micro_pkr
   )
   UPDATE balances b SET deposited_micro_pkr = b.deposited_micro_pkr + deposit.amount_micro_pkr
   FROM deposit
   WHERE b.organization_id = deposit.organization_id
     AND b.deposited_micro_pkr <= 9223372036854775807 - deposit.amount_micro_pkr
   RETURNING b.deposited_micro_pkr`,
);

/**
 * Serialises changes of the organisation's keys and projects, and withdrawals of credit, until the commit.
 * Rows that merely refer to the organisation are not held up.
 */
export const lockOrganization = statement(
  'organization-lock',
  `SELECT FROM organizations WHERE id = $1 FOR NO KEY UPDATE`,
);

// What follows is the operator's, who is no member of any organisation.

// The keys' limits mean something only under the organisation's lock. Expired keys count: they can be given time again.
export const lockBalance = statement<{
  deposited_micro_pkr: bigint;
  spent_micro_pkr: bigint;
  held_micro_pkr: bigint;
  limits_micro_pkr: bigint;
}>(
  'organization-lock-balance',
  `SELECT deposited_micro_pkr, spent_micro_pkr, held_micro_pkr,
          (SELECT coalesce(sum(k.credit_limit_micro_pkr), 0) FROM api_keys k
           WHERE k.organization_id = b.organization_id AND k.revoked_at IS NULL) AS limits_micro_pkr
   FROM balances b WHERE b.organization_id = $1
   FOR NO KEY UPDATE`,
);

/** $2 is below 0. */
export const insertWithdrawal = statement<{ deposited_micro_pkr: bigint }>(
  'organization-insert-withdrawal',
  `WITH deposit AS (
     INSERT INTO deposits (organization_id, amount_micro_pkr, note) VALUES ($1, $2, $3)
     RETURNING organization_id, amount_micro_pkr
   )
   UPDATE balances b SET deposited_micro_pkr = b.deposited_micro_pkr + deposit.amount_micro_pkr
   FROM deposit
   WHERE b.organization_id = deposit.organization_id
   RETURNING b.deposited_micro_pkr`,
);

export const findOrganizationById = statement<{ id: string; name: string }>(
  'organization-find-by-id',
  `SELECT id, name FROM organizations WHERE id = $1`,
);

export const findOrganizationByKey = statement<{ id: string; name: string }>(
  'organization-find-by-key',
  `SELECT id, name FROM organizations WHERE name_key = $1`,
);

/** An organisation as an operator sees it in a list. */
export interface SummaryRow {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
  readonly members: bigint;
  readonly deposited_micro_pkr: bigint;
  readonly spent_micro_pkr: bigint;
  readonly held_micro_pkr: bigint;
}

const SUMMARY = `o.id, o.name, o.created_at,
  (SELECT count(*) FROM users u WHERE u.organization_id = o.id) AS members,
  b.deposited_micro_pkr, b.spent_micro_pkr, b.held_micro_pkr`;

export const hasOrganizations = statement<{ has: boolean }>(
  'organization-has-any',
  'SELECT EXISTS (SELECT FROM organizations) AS has',
);

export const listOrganizations = statement<SummaryRow>(
  'organization-list',
  `SELECT ${SUMMARY}
   FROM organizations o JOIN balances b ON b.organization_id = o.id
   ORDER BY o.created_at, o.id`,
);

export const findOverview = statement<
  SummaryRow & { keys: bigint; deposits: bigint; activity_retention_days: number | null }
>(
  'organization-find-overview',
  `SELECT ${SUMMARY}, o.activity_retention_days,
          (SELECT count(*) FROM api_keys k WHERE k.organization_id = o.id AND k.revoked_at IS NULL) AS keys,
          (SELECT count(*) FROM deposits d WHERE d.organization_id = o.id) AS deposits
   FROM organizations o JOIN balances b ON b.organization_id = o.id
   WHERE o.id = $1`,
);

export const listDeposits = statement<{
  id: string;
  amount_micro_pkr: bigint;
  note: string | null;
  created_at: string;
}>(
  'organization-list-deposits',
  `SELECT id, amount_micro_pkr, note, created_at FROM deposits
   WHERE organization_id = $1 ORDER BY created_at DESC, id LIMIT $2`,
);

export const updateRetention = statement(
  'organization-update-retention',
  `UPDATE organizations SET activity_retention_days = $2 WHERE id = $1`,
);
