import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { MigrationError } from '../migration-error.ts';
import type { Database } from './database.ts';
import { ensureRoles, type RoleOptions } from './roles.ts';

/** One numbered step of the schema, as it stands in `migrations/`. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

const directory = join(import.meta.dirname, 'migrations');

// Any constant will do; it only has to be the same for every version of Gatehouse.
const ADVISORY_LOCK = 7_215_534_101;

const NOT_PERMITTED = '42501';

export async function readMigrations(from: string = directory): Promise<Migration[]> {
  const files = (await readdir(from)).filter((file) => file.endsWith('.sql')).sort();
  return Promise.all(
    files.map(async (file, index) => {
      const number = Number(file.slice(0, 4));
      if (number !== index + 1) throw new Error(`migration ${file} should have number ${index + 1}`);
      const sql = await readFile(join(from, file), 'utf8');
      return {
        number,
        name: file.slice(5, -4),
        sql,
        checksum: createHash('sha256').update(sql).digest('hex'),
      };
    }),
  );
}

export interface MigrateOptions extends RoleOptions {
  /** Default: this version's. */
  readonly migrations?: readonly Migration[];
}

/**
 * Brings the schema up to date and returns the names of the steps it applied. Each step commits together with
 * the row that records it, under a lock that makes a second node wait and then find nothing to do. Where there is
 * nothing to do, the login needs no right to change the schema.
 * Throws MigrationError when the database was made by a newer version, a step it holds has since changed, or the
 * login may not do what is to be done.
 */
export async function migratePostgres(
  database: Database,
  { migrations, ...roles }: MigrateOptions = { serviceMayLogIn: false },
): Promise<string[]> {
  const steps = migrations ?? (await readMigrations());
  const client = await database.connect();
  try {
    await client.query(`SELECT pg_advisory_lock(${ADVISORY_LOCK})`);
    const rows = await appliedSteps(client);
    refuseUnknown(rows, steps);
    if (rows.length === 0) await createHistory(client);

    const applied: string[] = [];
    if (rows.length < steps.length) await ensureRoles(client, roles);
    for (const step of steps.slice(rows.length)) {
      await client.query('BEGIN');
      await client.query(step.sql);
      await client.query('INSERT INTO schema_migrations (number, name, checksum) VALUES ($1, $2, $3)', [
        step.number,
        step.name,
        step.checksum,
      ]);
      await client.query('COMMIT');
      applied.push(step.name);
    }
    return applied;
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== NOT_PERMITTED) throw error;
    throw new MigrationError(
      `the database's login may not change the schema (${error.message}), and this version needs it changed: let the database's owner do it (DATABASE_OWNER_URL)`,
      { cause: error },
    );
  } finally {
    // Closing the connection also gives back the lock and rolls back a step that failed.
    await client.end();
  }
}

/** The steps that the database has, without changing anything. */
async function appliedSteps(client: pg.Client): Promise<readonly AppliedStep[]> {
  const { rows: found } = await client.query<{ isThere: boolean }>(
    `SELECT to_regclass('schema_migrations') IS NOT NULL AS "isThere"`,
  );
  if (!found[0]?.isThere) return [];
  const { rows } = await client.query<AppliedStep>(
    'SELECT number, name, checksum FROM schema_migrations ORDER BY number',
  );
  return rows;
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

/**
 * Throws MigrationError unless the database has exactly this version's schema. For those who work beside the
 * service and must not change it under its hands.
 */
export async function requireSchema(database: Database): Promise<void> {
  const steps = await readMigrations();
  const client = await database.connect();
  try {
    const rows = await appliedSteps(client);
    refuseUnknown(rows, steps);
    if (rows.length < steps.length) {
      throw new MigrationError(
        `the database's schema is at step ${rows.length} and this version needs step ${steps.length}: start this version's service once, which brings it up to date`,
      );
    }
  } finally {
    await client.end();
  }
}

interface AppliedStep {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
}

function refuseUnknown(rows: readonly AppliedStep[], steps: readonly Migration[]): void {
  rows.forEach((row, index) => {
    const step = steps[index];
    if (!step || row.number !== step.number) {
      throw new MigrationError(
        `the database has schema step ${row.number} (${row.name}), which this version does not know (its newest is ${steps.length}): it was made by a newer Gatehouse; start that version`,
      );
    }
    if (row.checksum !== step.checksum) {
      throw new MigrationError(
        `schema step ${row.number} (${row.name}) of the database differs from this version's: it was made by a build that is no release; use that build, or a fresh database`,
      );
    }
  });
}
