import type { AccountRow } from './queries.ts';

/** The account as the sign-in endpoints answer it. */
export function account(row: AccountRow) {
  return {
    user: { user_id: row.userId, email: row.email, role: row.role, joined_at: row.joinedAt },
    organization: { id: row.organizationId, name: row.organizationName },
  };
}
