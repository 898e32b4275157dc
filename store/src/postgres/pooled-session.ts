import { MigrationError } from '../migration-error.ts';
import type { Database, DatabaseTimeouts } from './database.ts';
import { sql } from './sql.ts';
import { type NoParameters, statement } from './statement.ts';

// A pooler that gives a connection to each transaction passes on no settings of a session, so the login must bring them.

interface Session {
  readonly login: string;
  readonly role: string;
  readonly database: string;
  readonly timezone: string;
  readonly statementMs: string;
  readonly lockMs: string;
  readonly idleMs: string;
}

export const findSession = statement<NoParameters, Session>(
  'pooled-session-find',
  sql`SELECT quote_ident(session_user) AS login, current_user::text AS role, quote_ident(current_database()) AS database,
             current_setting('TimeZone') AS timezone,
             (SELECT setting FROM pg_settings WHERE name = 'statement_timeout') AS statement_ms,
             (SELECT setting FROM pg_settings WHERE name = 'lock_timeout') AS lock_ms,
             (SELECT setting FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout') AS idle_ms`,
);

/**
 * Verifies that a session has the role, the time zone and the time limits that the service needs. Throws MigrationError
 * with the statement that gives them to the login.
 */
export async function requirePooledSession(
  database: Database,
  role: string,
  { statementMs, lockMs }: DatabaseTimeouts,
): Promise<void> {
  const found = await database.one(findSession);
  if (!found) throw new Error('a session has no settings');
  const needed = [
    ['role', role, found.role],
    ['timezone', 'UTC', found.timezone],
    ['statement_timeout', String(statementMs), found.statementMs],
    ['lock_timeout', String(lockMs), found.lockMs],
    ['idle_in_transaction_session_timeout', String(2 * statementMs), found.idleMs],
  ] as const;
  const missing = needed.filter(([, expected, value]) => value !== expected);
  if (missing.length === 0) return;
  const statements = missing.map(
    ([name, expected]) =>
      `ALTER ROLE ${found.login} IN DATABASE ${found.database} SET ${name} = '${expected}';`,
  );
  throw new MigrationError(
    `behind a pooler the login of DATABASE_URL needs settings of its own; run once on PostgreSQL itself, and then RECONNECT on the pooler: ${statements.join(' ')}`,
  );
}
