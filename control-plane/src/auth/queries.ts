import type { OrganizationId, Role, TokenHash, UserId } from '@gatehouse/contract';
import { type NoParameters, sql, statement } from '@gatehouse/store';

/** An account with its organisation, as replies show it. */
export interface AccountRow {
  readonly userId: UserId;
  readonly email: string;
  readonly role: Role;
  readonly joinedAt: string;
  readonly organizationId: OrganizationId;
  readonly organizationName: string;
}

export const ACCOUNT = sql`u.id AS user_id, u.email, u.role, u.created_at AS joined_at,
  o.id AS organization_id, o.name AS organization_name`;

// Lifetimes are judged by the database's clock, because the clocks of the nodes may differ.
export const findSession = statement<{ tokenHash: TokenHash }, AccountRow & { sessionId: string }>(
  'auth-find-session',
  sql`SELECT s.id AS session_id, ${ACCOUNT}
   FROM access_tokens t
   JOIN sessions s ON s.id = t.session_id
   JOIN users u ON u.id = s.user_id
   JOIN organizations o ON o.id = u.organization_id
   WHERE t.token_hash = ${'tokenHash'} AND t.expires_at > clock_timestamp() AND u.is_active`,
);

export const findRefreshableSession = statement<{ tokenHash: TokenHash }, AccountRow & { sessionId: string }>(
  'auth-find-refreshable-session',
  sql`SELECT s.id AS session_id, ${ACCOUNT}
   FROM sessions s
   JOIN users u ON u.id = s.user_id
   JOIN organizations o ON o.id = u.organization_id
   WHERE s.refresh_token_hash = ${'tokenHash'} AND s.refresh_expires_at > clock_timestamp() AND u.is_active
   FOR KEY SHARE OF s`,
);

export const findCredentials = statement<
  { email: string },
  AccountRow & { passwordHash: string | null; isActive: boolean }
>(
  'auth-find-credentials',
  sql`SELECT u.password_hash, u.is_active, ${ACCOUNT}
   FROM users u JOIN organizations o ON o.id = u.organization_id
   WHERE u.email = ${'email'}`,
);

export const lockActiveUser = statement<{ userId: UserId; passwordHash: string | null }, { id: UserId }>(
  'auth-lock-active-user',
  sql`SELECT id FROM users WHERE id = ${'userId'} AND is_active AND password_hash = ${'passwordHash'} FOR KEY SHARE`,
);

export const insertUser = statement<
  {
    organizationId: OrganizationId;
    email: string;
    passwordHash: string | null;
    role: Role;
    googleSubject: string | null;
  },
  { id: UserId; createdAt: string }
>(
  'auth-insert-user',
  sql`INSERT INTO users (organization_id, email, password_hash, role, google_subject) VALUES (${'organizationId'}, ${'email'}, ${'passwordHash'}, ${'role'}, ${'googleSubject'})
   ON CONFLICT DO NOTHING
   RETURNING id, created_at`,
);

/** Until the end of the transaction, no other sign-in with this subject proceeds. */
export const lockGoogleSubject = statement<{ googleSubject: string }>(
  'auth-lock-google-subject',
  sql`SELECT pg_advisory_xact_lock(hashtextextended('google subject ' || ${'googleSubject'}, 0))`,
);

// A credential that has expired by the database's clock is refused, because the row that marks it as used may be gone.
export const insertUsedCredential = statement<{ credentialHash: Buffer; expiresAtSeconds: number }>(
  'auth-insert-used-credential',
  sql`INSERT INTO used_google_credentials (credential_hash, expires_at)
   SELECT ${'credentialHash'}::bytea, to_timestamp(${'expiresAtSeconds'}::float8) WHERE to_timestamp(${'expiresAtSeconds'}::float8) > clock_timestamp()
   ON CONFLICT DO NOTHING`,
);

export const findUsedCredential = statement<{ credentialHash: Buffer }, { isUsed: true }>(
  'auth-find-used-credential',
  sql`SELECT true AS "isUsed" FROM used_google_credentials WHERE credential_hash = ${'credentialHash'}`,
);

export const findGoogleAccount = statement<{ googleSubject: string }, AccountRow & { isActive: boolean }>(
  'auth-find-google-account',
  sql`SELECT u.is_active, ${ACCOUNT}
   FROM users u JOIN organizations o ON o.id = u.organization_id
   WHERE u.google_subject = ${'googleSubject'}
   FOR KEY SHARE OF u`,
);

/** From here on the account signs in with Google only. */
export const updateGoogleSubject = statement<{ userId: UserId; googleSubject: string }>(
  'auth-update-google-subject',
  sql`UPDATE users SET google_subject = ${'googleSubject'}, password_hash = NULL WHERE id = ${'userId'}`,
);

export const insertSession = statement<
  { userId: UserId; refreshTokenHash: TokenHash; seconds: number },
  { id: string }
>(
  'auth-insert-session',
  sql`INSERT INTO sessions (user_id, refresh_token_hash, refresh_expires_at)
   VALUES (${'userId'}, ${'refreshTokenHash'}, clock_timestamp() + make_interval(secs => ${'seconds'}))
   RETURNING id`,
);

export const insertAccessToken = statement<{ tokenHash: TokenHash; sessionId: string; seconds: number }>(
  'auth-insert-access-token',
  sql`INSERT INTO access_tokens (token_hash, session_id, expires_at)
   VALUES (${'tokenHash'}, ${'sessionId'}, clock_timestamp() + make_interval(secs => ${'seconds'}))`,
);

// Either of the two tokens identifies the session. Sessions of a deactivated account are deleted too; they would work again
// once it is activated.
export const deleteSessions = statement<
  { accessTokenHash: TokenHash | null; refreshTokenHash: TokenHash | null },
  { userId: UserId; email: string; organizationId: OrganizationId; isActive: boolean }
>(
  'auth-delete-sessions',
  sql`DELETE FROM sessions s USING users u
   WHERE u.id = s.user_id
     AND (s.id = (SELECT t.session_id FROM access_tokens t WHERE t.token_hash = ${'accessTokenHash'} AND t.expires_at > clock_timestamp())
          OR (s.refresh_token_hash = ${'refreshTokenHash'} AND s.refresh_expires_at > clock_timestamp()))
   RETURNING u.id AS user_id, u.email, u.organization_id, u.is_active`,
);

/** Until the end of the transaction, no other sign-in counts or adds failures of this address. */
export const lockFailures = statement<{ emailHash: Buffer }>(
  'auth-lock-failures',
  sql`SELECT pg_advisory_xact_lock(hashtextextended(encode(${'emailHash'}::bytea, 'hex'), 0))`,
);

/** The seconds until the address may try again; no row while it may. It may after fewer than `attempts` failures within the window. */
export const findSignInDelay = statement<
  { emailHash: Buffer; attempts: number; windowSeconds: number },
  { seconds: number }
>(
  'auth-find-sign-in-delay',
  sql`SELECT ceil(extract(epoch FROM failed_at - clock_timestamp()) + ${'windowSeconds'})::integer AS seconds
   FROM failed_sign_ins
   WHERE email_hash = ${'emailHash'} AND failed_at > clock_timestamp() - make_interval(secs => ${'windowSeconds'})
   ORDER BY failed_at DESC
   LIMIT 1 OFFSET ${'attempts'} - 1`,
);

/**
 * The commit does not wait for the disk, which a flood of wrong passwords would keep from everyone else. A crash of the
 * database loses at most the failures of its last second.
 */
export const insertFailure = statement<{ emailHash: Buffer }>(
  'auth-insert-failure',
  sql`INSERT INTO failed_sign_ins (email_hash)
      SELECT ${'emailHash'}::bytea FROM set_config('synchronous_commit', 'off', true)`,
);

export const deleteFailures = statement<{ emailHash: Buffer }>(
  'auth-delete-failures',
  sql`DELETE FROM failed_sign_ins WHERE email_hash = ${'emailHash'}`,
);

/** Until the end of the transaction, no other registration counts or adds attempts. */
export const lockRegistrations = statement<NoParameters>(
  'auth-lock-registrations',
  sql`SELECT pg_advisory_xact_lock(hashtextextended('registrations', 0))`,
);

/**
 * The seconds until the network may register again, null while it may: after fewer than `perNetwork` attempts of its own
 * and fewer than `inAll` of all networks, within the window.
 */
export const findRegistrationDelay = statement<
  { network: string; perNetwork: number; inAll: number; windowSeconds: number },
  { seconds: number | null }
>(
  'auth-find-registration-delay',
  sql`SELECT ceil(extract(epoch FROM greatest(
            (SELECT attempted_at FROM registration_attempts
             WHERE network = ${'network'} AND attempted_at > clock_timestamp() - make_interval(secs => ${'windowSeconds'})
             ORDER BY attempted_at DESC LIMIT 1 OFFSET ${'perNetwork'} - 1),
            (SELECT attempted_at FROM registration_attempts
             WHERE attempted_at > clock_timestamp() - make_interval(secs => ${'windowSeconds'})
             ORDER BY attempted_at DESC LIMIT 1 OFFSET ${'inAll'} - 1)
          ) - clock_timestamp()) + ${'windowSeconds'})::integer AS seconds`,
);

export const insertRegistrationAttempt = statement<{ network: string }>(
  'auth-insert-registration-attempt',
  sql`INSERT INTO registration_attempts (network) VALUES (${'network'})`,
);

export const deleteOldRegistrationAttempts = statement<{ windowSeconds: number }>(
  'auth-delete-old-registration-attempts',
  sql`DELETE FROM registration_attempts WHERE attempted_at < clock_timestamp() - make_interval(secs => ${'windowSeconds'})`,
);

/** True if neither the Google subject nor the address has an account. */
export const findIsNewcomer = statement<{ googleSubject: string; email: string }, { isNewcomer: boolean }>(
  'auth-find-is-newcomer',
  sql`SELECT NOT EXISTS (SELECT FROM users WHERE google_subject = ${'googleSubject'} OR email = ${'email'}) AS is_newcomer`,
);

// An access token that was issued just before the refresh token expired keeps its full lifetime.
export const deleteExpiredSessions = statement<NoParameters>(
  'auth-delete-expired-sessions',
  sql`DELETE FROM sessions s
   WHERE s.refresh_expires_at < clock_timestamp()
     AND NOT EXISTS (SELECT FROM access_tokens t WHERE t.session_id = s.id AND t.expires_at > clock_timestamp())`,
);

export const deleteExpiredAccessTokens = statement<NoParameters>(
  'auth-delete-expired-access-tokens',
  sql`DELETE FROM access_tokens WHERE expires_at < clock_timestamp()`,
);

export const deleteOldFailures = statement<{ windowSeconds: number }>(
  'auth-delete-old-failures',
  sql`DELETE FROM failed_sign_ins WHERE failed_at < clock_timestamp() - make_interval(secs => ${'windowSeconds'})`,
);

export const deleteExpiredCredentials = statement<NoParameters>(
  'auth-delete-expired-credentials',
  sql`DELETE FROM used_google_credentials WHERE expires_at < clock_timestamp()`,
);

/** Updates the hash of an account, if it is still the earlier one, where that is given. */
export const updatePassword = statement<{ userId: UserId; passwordHash: string; earlierHash: string | null }>(
  'auth-update-password',
  sql`UPDATE users SET password_hash = ${'passwordHash'}
   WHERE id = ${'userId'} AND (${'earlierHash'}::text IS NULL OR password_hash = ${'earlierHash'})`,
);

export const deleteSessionsOfUser = statement<{ userId: UserId }>(
  'auth-delete-sessions-of-user',
  sql`DELETE FROM sessions WHERE user_id = ${'userId'}`,
);

/** An account as an operator sees it. */
export interface OverviewRow extends AccountRow {
  readonly isActive: boolean;
  readonly hasPassword: boolean;
  readonly isGoogleLinked: boolean;
  readonly isOidcLinked: boolean;
}

export const OVERVIEW = sql`${ACCOUNT}, u.is_active, u.password_hash IS NOT NULL AS has_password,
  u.google_subject IS NOT NULL AS is_google_linked,
  EXISTS (SELECT FROM user_identities i WHERE i.user_id = u.id) AS is_oidc_linked`;

export const findAccount = statement<{ email: string }, OverviewRow>(
  'auth-find-account',
  sql`SELECT ${OVERVIEW}
   FROM users u JOIN organizations o ON o.id = u.organization_id
   WHERE u.email = ${'email'}`,
);

// The strongest row lock. It waits for the sign-ins in progress, which hold the weakest one, so that the sessions they
// start are deleted too.
export const lockAccount = statement<{ email: string }, OverviewRow>(
  'auth-lock-account',
  sql`SELECT ${OVERVIEW}
   FROM users u JOIN organizations o ON o.id = u.organization_id
   WHERE u.email = ${'email'}
   FOR UPDATE OF u`,
);
