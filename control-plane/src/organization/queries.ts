import { statement } from '@gatehouse/store';

export type Role = 'owner' | 'admin' | 'member';

export const listMembers = statement<{ id: string; email: string; role: Role; created_at: string }>(
  'organization-list-members',
  `SELECT id, email, role, created_at FROM users WHERE organization_id = $1 ORDER BY created_at, id`,
);

export const listProjects = statement<{ id: string; name: string; created_at: string }>(
  'organization-list-projects',
  `SELECT id, name, created_at FROM projects WHERE organization_id = $1 ORDER BY created_at, id`,
);

export const insertOrganization = statement<{ id: string }>(
  'organization-insert',
  `INSERT INTO organizations (name, name_key) VALUES ($1, $2)
   ON CONFLICT (name_key) DO NOTHING
   RETURNING id`,
);

// The share lock keeps the name from changing before the account that joins by it is there.
export const findOrganizationByName = statement<{ id: string; name: string; owner_email: string | null }>(
  'organization-find-by-name',
  `SELECT o.id, o.name,
          (SELECT u.email FROM users u WHERE u.organization_id = o.id AND u.role = 'owner' ORDER BY u.created_at LIMIT 1)
            AS owner_email
   FROM organizations o WHERE o.name_key = $1
   FOR SHARE OF o`,
);

export const insertProject = statement(
  'organization-insert-project',
  `INSERT INTO projects (organization_id, name) VALUES ($1, $2)`,
);

export const insertBalance = statement(
  'organization-insert-balance',
  `INSERT INTO balances (organization_id) VALUES ($1)`,
);

export const insertDeposit = statement(
  'organization-insert-deposit',
  `WITH deposit AS (
     INSERT INTO deposits (organization_id, amount_micro_pkr, note) VALUES ($1, $2, $3)
     RETURNING organization_id, amount_micro_pkr
   )
   UPDATE balances b SET deposited_micro_pkr = b.deposited_micro_pkr + deposit.amount_micro_pkr
   FROM deposit WHERE b.organization_id = deposit.organization_id`,
);
