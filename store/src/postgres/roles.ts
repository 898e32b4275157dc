import pg from 'pg';
import { MigrationError } from '../migration-error.ts';
import type { Database } from './database.ts';
import { sql } from './sql.ts';
import { type NoParameters, statement } from './statement.ts';

/*
 * Three roles use the database. The owner, which is the operator's login, creates and migrates the schema. The service
 * works as `gatehouse_service`, which has only the rights that requests need: it can append to the activity log, to
 * deposits and to settlements, but not change them. `gatehouse_retention` owns the one function that removes old entries
 * of the activity log. Roles belong to the whole server, so they are created here; `grants.sql` gives them their rights.
 */
export const SERVICE_ROLE = 'gatehouse_service';
export const RETENTION_ROLE = 'gatehouse_retention';

export interface RoleOptions {
  /**
   * True if the service signs in as its role, instead of switching to it after signing in with another login. Only for a server that
   * requires no password and is closed to other users.
   */
  readonly serviceMayLogIn: boolean;
}

/**
 * Creates missing roles and grants them to the current login. Writes nothing when nothing is missing. Throws
 * MigrationError with the statements for an administrator when the login lacks the right.
 */
export async function ensureRoles(client: pg.Client, { serviceMayLogIn }: RoleOptions): Promise<void> {
  for (const role of [SERVICE_ROLE, RETENTION_ROLE]) {
    const { rows } = await client.query<{ canLogIn: boolean; isMember: boolean }>(
      `SELECT rolcanlogin AS "canLogIn",
              pg_has_role(oid, CASE WHEN current_setting('server_version_num')::integer >= 160000
                                    THEN 'SET' ELSE 'MEMBER' END) AS "isMember"
       FROM pg_roles WHERE rolname = $1`,
      [role],
    );
    const found = rows[0];
    if (!found) await attempt(client, `CREATE ROLE ${role} NOLOGIN`);
    if (!found?.isMember) await attempt(client, `GRANT ${role} TO CURRENT_USER`);
    if (serviceMayLogIn && role === SERVICE_ROLE && !found?.canLogIn)
      await attempt(client, `ALTER ROLE ${role} LOGIN`);
  }
}

const ALREADY_THERE = new Set(['42710', '23505']);

async function attempt(client: pg.Client, command: string): Promise<void> {
  try {
    await client.query(command);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    // Another process created it at the same time, possibly for another database of the server.
    if (typeof code === 'string' && ALREADY_THERE.has(code)) return;
    if (code !== '42501') throw error;
    const { rows } = await client.query<{ login: string }>('SELECT quote_ident(current_user) AS login');
    throw new MigrationError(
      `the login of the database may not create the roles of Gatehouse; have an administrator run once, without what exists already: CREATE ROLE ${SERVICE_ROLE} NOLOGIN; CREATE ROLE ${RETENTION_ROLE} NOLOGIN; GRANT ${SERVICE_ROLE}, ${RETENTION_ROLE} TO ${rows[0]?.login};`,
      { cause: error },
    );
  }
}

// Rights that the service's role must not have, on a table, on a column, or through another role.
export const findExcess = statement<NoParameters, { role: string; excess: string }>(
  'roles-find-excess',
  sql`SELECT current_user AS role, excess FROM (
     SELECT 'change ' || name AS excess
     FROM unnest('{activity_events,activity_heads,activity_checkpoints,deposits,settlements}'::text[]) name
     WHERE has_table_privilege(name, 'UPDATE, DELETE, TRUNCATE') OR has_any_column_privilege(name, 'UPDATE')
     UNION ALL
     SELECT 'write ' || name FROM unnest('{activity_events,activity_heads,activity_checkpoints}'::text[]) name
     WHERE has_any_column_privilege(name, 'INSERT')
     UNION ALL
     SELECT 'set the retention of organizations'
     WHERE has_column_privilege('organizations', 'activity_retention_days', 'INSERT, UPDATE')
     UNION ALL
     SELECT 'become ' || other.rolname FROM pg_roles other
     WHERE other.rolname <> current_user AND pg_has_role(current_user, other.oid, 'MEMBER')
     UNION ALL
     SELECT 'make objects in the schema' WHERE has_schema_privilege(current_schema(), 'CREATE')
     UNION ALL
     SELECT 'make roles, or anything' FROM pg_roles
     WHERE rolname = current_user AND (rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls)
   ) all_excess LIMIT 1`,
);

/**
 * Verifies that this connection works as the service's role and has no rights beyond it.
 * Throws MigrationError when it has more, or cannot use the role.
 */
export async function requireServiceRole(database: Database): Promise<void> {
  const found = await database.one(findExcess).catch((error: unknown) => {
    if (error instanceof pg.DatabaseError && error.code === '42P01') {
      throw new MigrationError('the database of DATABASE_URL has no tables of Gatehouse', { cause: error });
    }
    if (!(error instanceof pg.DatabaseError) || error.code !== '42501') throw error;
    throw new MigrationError(
      `the login of DATABASE_URL may not use the role ${SERVICE_ROLE}: GRANT ${SERVICE_ROLE} to it`,
      { cause: error },
    );
  });
  if (found) {
    throw new MigrationError(
      `the service's role ${found.role} may ${found.excess}; revoke every right that Gatehouse did not grant`,
    );
  }
}
