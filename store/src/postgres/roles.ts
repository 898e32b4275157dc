import pg from 'pg';
import { MigrationError } from '../migration-error.ts';
import type { Database } from './database.ts';
import { sql } from './sql.ts';
import { type NoParameters, statement } from './statement.ts';

/*
 * Three parties use the database. Its owner, the login of the operator, makes and changes the schema. The service
 * works as `gatehouse_service`, which may do what requests need and nothing else: the activity log, deposits and
 * settlements it can add to and not change. `gatehouse_retention` owns the one function that removes old entries of
 * the log. Roles belong to the whole server, so they are made here and not by a step of the schema, which only says
 * what they may.
 */
export const SERVICE_ROLE = 'gatehouse_service';
export const RETENTION_ROLE = 'gatehouse_retention';

export interface RoleOptions {
  /** Whether the service signs in as its role, instead of taking it on after signing in with another login. Only for a
   *  server that asks nobody for a password and lets nobody else in. */
  readonly serviceMayLogIn: boolean;
}

/**
 * Makes what is missing of the two roles, and lets the current login take them on. Writes nothing when all is there.
 * Throws MigrationError, with what an administrator has to run, when the login may not.
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
    // Another database of the same server was faster.
    if (typeof code === 'string' && ALREADY_THERE.has(code)) return;
    if (code !== '42501') throw error;
    const { rows } = await client.query<{ login: string }>('SELECT quote_ident(current_user) AS login');
    throw new MigrationError(
      `the database's login may not prepare the roles that Gatehouse works with; let an administrator run once, leaving out what exists: CREATE ROLE ${SERVICE_ROLE} NOLOGIN; CREATE ROLE ${RETENTION_ROLE} NOLOGIN; GRANT ${SERVICE_ROLE}, ${RETENTION_ROLE} TO ${rows[0]?.login};`,
      { cause: error },
    );
  }
}

// Rights that the service's role must not have: on any column, or through another role that it could take on.
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
 * Verifies that this connection can do what the service does and no more: append to the activity log, to
 * deposits and settlements.
 * Throws MigrationError when it could do more, or may not work as the service at all.
 */
export async function requireServiceRole(database: Database): Promise<void> {
  const found = await database.one(findExcess).catch((error: unknown) => {
    if (error instanceof pg.DatabaseError && error.code === '42P01') {
      throw new MigrationError('the database of DATABASE_URL has no tables of Gatehouse', { cause: error });
    }
    if (!(error instanceof pg.DatabaseError) || error.code !== '42501') throw error;
    throw new MigrationError(
      `the login of DATABASE_URL may not work as ${SERVICE_ROLE}: GRANT ${SERVICE_ROLE} to it`,
      { cause: error },
    );
  });
  if (found) {
    throw new MigrationError(
      `${found.role}, as which the service works, may ${found.excess}; take from it what was granted beyond what Gatehouse grants`,
    );
  }
}
