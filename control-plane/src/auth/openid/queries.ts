import type { UserId } from '@gatehouse/contract';
import { sql, statement } from '@gatehouse/store';
import { ACCOUNT, type AccountRow } from '../queries.ts';

/** Until the end of the transaction, no other sign-in of this identity proceeds. */
export const lockIdentity = statement<{ issuer: string; subject: string }>(
  'auth-lock-identity',
  sql`SELECT pg_advisory_xact_lock(hashtextextended(${'issuer'} || ' ' || ${'subject'}, 0))`,
);

export const findIdentityAccount = statement<
  { issuer: string; subject: string },
  AccountRow & { isActive: boolean }
>(
  'auth-find-identity-account',
  sql`SELECT u.is_active, ${ACCOUNT}
   FROM user_identities i
   JOIN users u ON u.id = i.user_id
   JOIN organizations o ON o.id = u.organization_id
   WHERE i.issuer = ${'issuer'} AND i.subject = ${'subject'}
   FOR KEY SHARE OF u`,
);

/** No row is inserted where the account has another identity of the issuer. */
export const insertIdentity = statement<{ issuer: string; subject: string; userId: UserId }>(
  'auth-insert-identity',
  sql`INSERT INTO user_identities (issuer, subject, user_id)
   VALUES (${'issuer'}, ${'subject'}, ${'userId'})
   ON CONFLICT DO NOTHING`,
);
