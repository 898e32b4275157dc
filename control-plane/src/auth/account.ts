import type { AccountRow } from './queries.ts';

/** The account as the sign-in family answers it. */
export function account(row: AccountRow) {
  return {
    user: { user_id: row.user_id, email: row.email, role: row.role, joined_at: row.joined_at },
    organization: { id: row.organization_id, name: row.organization_name },
  };
}
