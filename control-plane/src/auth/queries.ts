import type { OrganizationId, Role, UserId } from '@gatehouse/contract';
import { statement } from '@gatehouse/store';

/** An account with its organisation, as replies show it. */
export interface AccountRow {
  readonly user_id: UserId;
  readonly email: string;
  readonly role: Role;
  readonly joined_at: string;
  readonly organization_id: OrganizationId;
  readonly organization_name: string;
}

const ACCOUNT = `u.id AS user_id, u.email, u.role, u.created_at AS joined_at,
  o.id AS organization_id, o.name AS organization_name`;

// Lifetimes are judged by the database's clock: the nodes' clocks may differ.
export const findSession = statement<AccountRow & { session_id: string }>(
  'auth-find-session',
  `SELECT s.id AS session_id, ${ACCOUNT}
   FROM access_tokens t
   JOIN sessions s ON s.id = t.session_id
   JOIN users u ON u.id = s.user_id
   JOIN organizations o ON o.id = u.organization_id
   WHERE t.token_hash = $1 AND t.expires_at > clock_timestamp() AND u.is_active`,
);

export const findRefreshableSession = statement<AccountRow & { session_id: string }>(
  'auth-find-refreshable-session',
  `SELECT s.id AS session_id, ${ACCOUNT}
   FROM sessions s
   JOIN users u ON u.id = s.user_id
   JOIN organizations o ON o.id = u.organization_id
   WHERE s.refresh_token_hash = $1 AND s.refresh_expires_at > clock_timestamp() AND u.is_active
   FOR KEY SHARE OF s`,
);

export const findCredentials = statement<AccountRow & { password_hash: string | null; is_active: boolean }>(
  'auth-find-credentials',
  `SELECT u.password_hash, u.is_active, ${ACCOUNT}
   FROM users u JOIN organizations o ON o.id = u.organization_id
   WHERE u.email = $1`,
);

export const lockActiveUser = statement<{ id: string }>(
  'auth-lock-active-user',
  `SELECT id FROM users WHERE id = $1 AND is_active AND password_hash = $2 FOR KEY SHARE`,
);

export const insertUser = statement<{ id: UserId; created_at: string }>(
  'auth-insert-user',
  `INSERT INTO users (organization_id, email, password_hash, role, google_subject) VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT DO NOTHING
   RETURNING id, created_at`,
);

/** Until the end of the transaction, nobody else signs in with this subject. */
export const lockGoogleSubject = statement(
  'auth-lock-google-subject',
  `SELECT pg_advisory_xact_lock(hashtextextended('google subject ' || $1, 0))`,
);

// What has expired by the database's clock is refused: no row of it may be left to tell that it was used.
export const insertUsedCredential = statement(
  'auth-insert-used-credential',
  `INSERT INTO used_google_credentials (credential_hash, expires_at)
   SELECT $1::bytea, to_timestamp($2::float8) WHERE to_timestamp($2::float8) > clock_timestamp()
   ON CONFLICT DO NOTHING`,
);

export const findUsedCredential = statement<{ isUsed: true }>(
  'auth-find-used-credential',
  `SELECT true AS "isUsed" FROM used_google_credentials WHERE credential_hash = $1`,
);

export const findGoogleAccount = statement<AccountRow & { is_active: boolean }>(
  'auth-find-google-account',
  `SELECT u.is_active, ${ACCOUNT}
   FROM users u JOIN organizations o ON o.id = u.organization_id
   WHERE u.google_subject = $1
   FOR KEY SHARE OF u`,
);

/** From now on the account opens with Google only. */
export const updateGoogleSubject = statement(
  'auth-update-google-subject',
  `UPDATE users SET google_subject = $2, password_hash = NULL WHERE id = $1`,
);

export const insertSession = statement<{ id: string }>(
  'auth-insert-session',
  `INSERT INTO sessions (user_id, refresh_token_hash, refresh_expires_at)
   VALUES ($1, $2, clock_timestamp() + make_interval(secs => $3))
   RETURNING id`,
);

export const insertAccessToken = statement(
  'auth-insert-access-token',
  `INSERT INTO access_tokens (token_hash, session_id, expires_at)
   VALUES ($1, $2, clock_timestamp() + make_interval(secs => $3))`,
);

// Either of the two tokens proves whose session it is. That of a deactivated account goes too, or it would be back
// when the account is.
export const deleteSessions = statement<{
  user_id: string;
  email: string;
  organization_id: string;
  is_active: boolean;
}>(
  'auth-delete-sessions',
  `DELETE FROM sessions s USING users u
   WHERE u.id = s.user_id
     AND (s.id = (SELECT t.session_id FROM access_tokens t WHERE t.token_hash = $1 AND t.expires_at > clock_timestamp())
          OR (s.refresh_token_hash = $2 AND s.refresh_expires_at > clock_timestamp()))
   RETURNING u.id AS user_id, u.email, u.organization_id, u.is_active`,
);

/** Until the end of the transaction, nobody else counts or adds failures of this address. */
export const lockFailures = statement(
  'auth-lock-failures',
  `SELECT pg_advisory_xact_lock(hashtextextended(encode($1::bytea, 'hex'), 0))`,
);

/** The seconds until the address may try again; no row while it may. $2 failures within $3 seconds are too many. */
export const findSignInDelay = statement<{ seconds: number }>(
  'auth-find-sign-in-delay',
  `SELECT ceil(extract(epoch FROM failed_at - clock_timestamp()) + $3)::integer AS seconds
   FROM failed_sign_ins
   WHERE email_hash = $1 AND failed_at > clock_timestamp() - make_interval(secs => $3)
   ORDER BY failed_at DESC
   LIMIT 1 OFFSET $2 - 1`,
);

export const insertFailure = statement(
  'auth-insert-failure',
  `INSERT INTO failed_sign_ins (email_hash) VALUES ($1)`,
);

export const deleteFailures = statement(
  'auth-delete-failures',
  `DELETE FROM failed_sign_ins WHERE email_hash = $1`,
);

/** Until the end of the transaction, nobody else counts or adds attempts to register. */
export const lockRegistrations = statement(
  'auth-lock-registrations',
  `SELECT pg_advisory_xact_lock(hashtextextended('registrations', 0))`,
);

/**
 * The seconds until the network may register again, null while it may: $2 attempts of its own, or $3 of everybody,
 * within $4 seconds are too many.
 */
export const findRegistrationDelay = statement<{ seconds: number | null }>(
  'auth-find-registration-delay',
  `SELECT ceil(extract(epoch FROM greatest(
            (SELECT attempted_at FROM registration_attempts
             WHERE network = $1 AND attempted_at > clock_timestamp() - make_interval(secs => $4)
             ORDER BY attempted_at DESC LIMIT 1 OFFSET $2 - 1),
            (SELECT attempted_at FROM registration_attempts
             WHERE attempted_at > clock_timestamp() - make_interval(secs => $4)
             ORDER BY attempted_at DESC LIMIT 1 OFFSET $3 - 1)
          ) - clock_timestamp()) + $4)::integer AS seconds`,
);

export const insertRegistrationAttempt = statement(
  'auth-insert-registration-attempt',
  `INSERT INTO registration_attempts (network) VALUES ($1)`,
);

export const deleteOldRegistrationAttempts = statement(
  'auth-delete-old-registration-attempts',
  `DELETE FROM registration_attempts WHERE attempted_at < clock_timestamp() - make_interval(secs => $1)`,
);

/** Whether neither the Google subject nor the address has an account. */
export const findIsNewcomer = statement<{ is_newcomer: boolean }>(
  'auth-find-is-newcomer',
  `SELECT NOT EXISTS (SELECT FROM users WHERE google_subject = $1 OR email = $2) AS is_newcomer`,
);

// An access token that was issued just before has its full lifetime all the same.
export const deleteExpiredSessions = statement(
  'auth-delete-expired-sessions',
  `DELETE FROM sessions s
   WHERE s.refresh_expires_at < clock_timestamp()
     AND NOT EXISTS (SELECT FROM access_tokens t WHERE t.session_id = s.id AND t.expires_at > clock_timestamp())`,
);

export const deleteExpiredAccessTokens = statement(
  'auth-delete-expired-access-tokens',
  `DELETE FROM access_tokens WHERE expires_at < clock_timestamp()`,
);

export const deleteOldFailures = statement(
  'auth-delete-old-failures',
  `DELETE FROM failed_sign_ins WHERE failed_at < clock_timestamp() - make_interval(secs => $1)`,
);

export const deleteExpiredCredentials = statement(
  'auth-delete-expired-credentials',
  `DELETE FROM used_google_credentials WHERE expires_at < clock_timestamp()`,
);

// What follows is the operator's, who is no member of any organisation.

/** An account as an operator sees it. */
export interface OverviewRow extends AccountRow {
  readonly is_active: boolean;
  readonly has_password: boolean;
  readonly is_google_linked: boolean;
}

const OVERVIEW = `${ACCOUNT}, u.is_active, u.password_hash IS NOT NULL AS has_password,
  u.google_subject IS NOT NULL AS is_google_linked`;

export const listAccounts = statement<OverviewRow>(
  'auth-list-accounts',
  `SELECT ${OVERVIEW}
   FROM users u JOIN organizations o ON o.id = u.organization_id
   WHERE u.organization_id = $1
   ORDER BY u.created_at, u.id`,
);

export const findAccount = statement<OverviewRow>(
  'auth-find-account',
  `SELECT ${OVERVIEW}
   FROM users u JOIN organizations o ON o.id = u.organization_id
   WHERE u.email = $1`,
);

// The strongest lock of a row: it also waits for the sign-ins that are under way, which hold it with the weakest, so
// that the sessions they are about to start are there to be ended.
export const lockAccount = statement<OverviewRow>(
  'auth-lock-account',
  `SELECT ${OVERVIEW}
   FROM users u JOIN organizations o ON o.id = u.organization_id
   WHERE u.email = $1
   FOR UPDATE OF u`,
);

export const updateActive = statement('auth-update-active', `UPDATE users SET is_active = $2 WHERE id = $1`);

export const updatePassword = statement(
  'auth-update-password',
  `UPDATE users SET password_hash = $2 WHERE id = $1`,
);

export const deleteUser = statement('auth-delete-user', `DELETE FROM users WHERE id = $1`);

export const deleteSessionsOfUser = statement(
  'auth-delete-sessions-of-user',
  `DELETE FROM sessions WHERE user_id = $1`,
);

/** Who is left in an organisation to lead it. */
export const findLeaders = statement<{ owners: bigint; renamers: bigint }>(
  'auth-find-leaders',
  `SELECT count(*) FILTER (WHERE role = 'owner') AS owners,
          count(*) FILTER (WHERE role IN ('owner', 'admin') AND is_active) AS renamers
   FROM users WHERE organization_id = $1`,
);
