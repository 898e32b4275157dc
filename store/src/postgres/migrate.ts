/**
 * Migrates a database to this version's schema: numbered steps (`migrations/`), each applied once, and after them the
 * files that always hold the current text (`functions/`, `grants.sql`), applied again when their checksum changes.
 *
 * A version starts on a schema that a later version has migrated, and leaves it as it is, if every step that it does not know
 * says that it works with it. So in a rolling upgrade a node of the version before may restart.
 *
 * A step commits together with the row that records it; the files that are due commit together. An advisory lock makes a
 * second node wait and then find nothing to do. See docs/decisions/0029.
 */
import pg from 'pg';
import { MigrationError } from '../migration-error.ts';
import type { Database } from './database.ts';
import { withUnavailable } from './errors.ts';
import { repairRights } from './repair-rights.ts';
import { findRightsDifferences } from './rights.ts';
import { ensureRoles, RETENTION_ROLE, type RoleOptions } from './roles.ts';
import { readSchema, type Schema, type SchemaFile, type SchemaStep } from './schema-files.ts';
import { requireSupported, SERVER_VERSION, type ServerVersion } from './server-version.ts';

// Any constant, the same in every version of Gatehouse.
const ADVISORY_LOCK = 7_215_534_101;

const NOT_PERMITTED = '42501';

export interface MigrateOptions extends RoleOptions {
  /** Default: this version's. */
  readonly schema?: Schema;
  /** Called when a later version has migrated the database, up to this step, and this version works with it. */
  readonly onNewerSchema?: (newestStep: number) => void;
  /** True if owners, functions and rights that differ from the schema are restored too. */
  readonly repairsRights?: boolean;
  /** Called with each of those that differ, where they are not restored. */
  readonly onRightsDiffer?: (name: string) => void;
}

/**
 * Applies what is due and returns its names in order: `0014-schema-files`, `functions/admit_requests.sql`, `grants.sql`.
 * Where nothing is due, the login needs no right to change the schema.
 * @throws MigrationError when the server is too old, a newer version made the database, a step it has was changed, or the
 * login may not do what is due
 * @throws DatabaseUnavailable when the connection is lost; the same call goes on where this one stopped
 */
export async function migratePostgres(
  database: Database,
  { schema, onNewerSchema, repairsRights, onRightsDiffer, ...roles }: MigrateOptions = {
    serviceMayLogIn: false,
  },
): Promise<string[]> {
  const wanted = schema ?? (await readSchema());
  const client = await database.connect();
  try {
    const server = await client.query<ServerVersion>(SERVER_VERSION);
    requireSupported(server.rows[0] as ServerVersion);
    await client.query(`SELECT pg_advisory_lock(${ADVISORY_LOCK})`);
    const due = await findDue(client, wanted);
    if (due.newestStep > wanted.steps.length) onNewerSchema?.(due.newestStep);
    if (!isNothing(due)) {
      if (due.isEmpty) await createHistory(client);
      await ensureRoles(client, roles);
      for (const step of due.steps) await applyStep(client, step);
      if (due.files.length > 0) await applyFiles(client, due.files);
    }
    if (due.newestStep > wanted.steps.length) return [];
    const differences = repairsRights || onRightsDiffer ? await findRightsDifferences(client) : [];
    if (!repairsRights) for (const { name } of differences) onRightsDiffer?.(name);
    if (!repairsRights || differences.length === 0) return namesOf(due);
    await ensureRoles(client, roles);
    await repairRights(client, differences, wanted.files, (file) => applyFile(client, file));
    return [...namesOf(due), ...differences.map(({ name }) => name)];
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== NOT_PERMITTED) throw withUnavailable(error);
    throw new MigrationError(
      `the database's login may not change the schema (${error.message}), and this version needs it changed: let the database's owner do it (DATABASE_OWNER_URL)`,
      { cause: error },
    );
  } finally {
    // Closing the connection also releases the lock and rolls back a step that failed.
    await client.end();
  }
}

/**
 * The steps that `migratePostgres` would apply and the rights that it would restore now, by the same names. Changes nothing. @throws
 * MigrationError when a newer version made the database, or a step it has was changed
 */
export async function duePostgresMigrations(database: Database): Promise<string[]> {
  const schema = await readSchema();
  const client = await database.connect();
  try {
    const due = await findDue(client, schema);
    return [...namesOf(due), ...(await differencesOf(client, due, schema))];
  } finally {
    await client.end();
  }
}

/**
 * Owners, functions and rights that differ from this version's schema, one phrase each. None where a migration is due or a later
 * version made the schema.
 */
export async function differingRights(database: Database): Promise<string[]> {
  const schema = await readSchema();
  const client = await database.connect();
  try {
    return await differencesOf(client, await findDue(client, schema), schema);
  } finally {
    await client.end();
  }
}

async function differencesOf(client: pg.Client, due: Due, { steps }: Schema): Promise<string[]> {
  if (!isNothing(due) || due.newestStep > steps.length) return [];
  return (await findRightsDifferences(client)).map(({ name }) => name);
}

/**
 * For commands that work beside a running service and must not change its schema.
 * @throws MigrationError unless the database has exactly this version's schema
 */
export async function requireSchema(database: Database): Promise<void> {
  const schema = await readSchema();
  const client = await database.connect();
  try {
    const due = await findDue(client, schema);
    if (due.steps.length > 0) {
      throw new MigrationError(
        `the database's schema is at step ${schema.steps.length - due.steps.length} and this version needs step ${schema.steps.length}: run gatehouse migrate, or start this version's service, which migrates it`,
      );
    }
    if (due.files.length > 0) {
      throw new MigrationError(
        `the database's ${due.files.map(({ path }) => path).join(', ')} differ from this version's: run gatehouse migrate, or start this version's service, which migrates them`,
      );
    }
  } finally {
    await client.end();
  }
}

interface Due {
  /** True if the database has no step at all. */
  readonly isEmpty: boolean;
  /** The newest step of the database, which may be of a later version. */
  readonly newestStep: number;
  readonly steps: readonly SchemaStep[];
  readonly files: readonly SchemaFile[];
}

function isNothing({ steps, files }: Due): boolean {
  return steps.length + files.length === 0;
}

function namesOf({ steps, files }: Due): string[] {
  return [
    ...steps.map(({ number, name }) => `${String(number).padStart(4, '0')}-${name}`),
    ...files.map(({ path }) => path),
  ];
}

async function findDue(client: pg.Client, { steps, files }: Schema): Promise<Due> {
  const applied = await rowsIfThere<AppliedStep>(
    client,
    'schema_migrations',
    // Before step 19 there is no such column.
    `SELECT number, name, checksum, (to_jsonb(m) ->> 'works_with_step')::integer AS "worksWithStep"
     FROM schema_migrations m ORDER BY number`,
  );
  refuseUnknown(applied, steps);
  const newestStep = applied.length;
  // The functions of a later version call for no other text of this one.
  if (newestStep > steps.length) return { isEmpty: false, newestStep, steps: [], files: [] };
  const texts = await rowsIfThere<{ path: string; checksum: string }>(
    client,
    'schema_files',
    'SELECT path, checksum FROM schema_files',
  );
  const checksums = new Map(texts.map(({ path, checksum }) => [path, checksum]));
  return {
    isEmpty: applied.length === 0,
    newestStep,
    steps: steps.slice(applied.length),
    files: files.filter(({ path, checksum }) => checksums.get(path) !== checksum),
  };
}

async function rowsIfThere<Row extends object>(
  client: pg.Client,
  table: string,
  query: string,
): Promise<Row[]> {
  const found = await client.query<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS exists', [
    table,
  ]);
  return found.rows[0]?.exists ? (await client.query<Row>(query)).rows : [];
}

async function createHistory(client: pg.Client): Promise<void> {
  await client.query(`
    CREATE TABLE IF NOT EXISTS schema_migrations (
      number integer PRIMARY KEY,
      name text NOT NULL,
      checksum text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
    )`);
}

async function applyStep(
  client: pg.Client,
  { number, name, sql, checksum, worksWithStep }: SchemaStep,
): Promise<void> {
  await client.query('BEGIN');
  await client.query(sql);
  await client.query('INSERT INTO schema_migrations (number, name, checksum) VALUES ($1, $2, $3)', [
    number,
    name,
    checksum,
  ]);
  if (worksWithStep < number)
    await client.query('UPDATE schema_migrations SET works_with_step = $2 WHERE number = $1', [
      number,
      worksWithStep,
    ]);
  await client.query('COMMIT');
}

async function applyFiles(client: pg.Client, files: readonly SchemaFile[]): Promise<void> {
  await client.query('BEGIN');
  for (const file of files) await applyFile(client, file);
  await client.query('COMMIT');
}

/** Within a transaction. */
async function applyFile(client: pg.Client, { path, sql, checksum }: SchemaFile): Promise<void> {
  // Functions find tables in the one schema, whatever their caller's settings (SET search_path FROM CURRENT), and may
  // refer to functions whose files come later.
  await client.query(
    `SELECT set_config('search_path', format('%I, pg_temp', current_schema()), true), set_config('check_function_bodies', 'off', true)`,
  );
  await (isRetentions(sql) ? applyAsRetention(client, sql) : client.query(sql));
  await client.query(
    `INSERT INTO schema_files (path, checksum) VALUES ($1, $2)
     ON CONFLICT (path) DO UPDATE SET checksum = excluded.checksum, applied_at = excluded.applied_at`,
    [path, checksum],
  );
}

function isRetentions(sql: string): boolean {
  return sql.startsWith(`-- owner: ${RETENTION_ROLE}\n`);
}

/** The role may make functions in the schema for this moment only. */
async function applyAsRetention(client: pg.Client, sql: string): Promise<void> {
  const { rows } = await client.query<{ schema: string }>('SELECT quote_ident(current_schema()) AS schema');
  const schema = rows[0]?.schema;
  await client.query(
    `GRANT USAGE, CREATE ON SCHEMA ${schema} TO ${RETENTION_ROLE}; SET LOCAL ROLE ${RETENTION_ROLE}`,
  );
  await client.query(sql);
  await client.query(`RESET ROLE; REVOKE CREATE ON SCHEMA ${schema} FROM ${RETENTION_ROLE}`);
}

type AppliedStep = Pick<SchemaStep, 'number' | 'name' | 'checksum'> & {
  readonly worksWithStep: number | null;
};

function refuseUnknown(rows: readonly AppliedStep[], steps: readonly SchemaStep[]): void {
  rows.forEach((row, index) => {
    const step = steps[index];
    const isLater = step === undefined && row.number === index + 1;
    if (isLater && row.worksWithStep !== null && row.worksWithStep <= steps.length) return;
    if (!step || row.number !== step.number) {
      throw new MigrationError(
        `the database has schema step ${row.number} (${row.name}), which this version does not know (its newest is ${steps.length}): it was made by a newer Gatehouse, whose schema this version cannot use; start that version`,
      );
    }
    if (row.checksum !== step.checksum) {
      throw new MigrationError(
        `schema step ${row.number} (${row.name}) of the database differs from this version's: it was made by a build that is no release; use that build, or a fresh database`,
      );
    }
  });
}
