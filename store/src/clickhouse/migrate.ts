/**
 * Migrates the telemetry store's schema.
 *
 * ClickHouse has no transactions and no locks. So every statement of a migration can run again (IF NOT EXISTS), a
 * migration is recorded after its last statement, and a process that was stopped half-way, or that runs beside another,
 * applies it again. The record holds a checksum of the file, comments included: a file that was changed after it was
 * applied is an error.
 *
 * A release starts on a store that a newer one has migrated, and leaves it as it is, if every migration that it does not know
 * says that it works with it. So in a rolling upgrade a node of the release before may restart.
 *
 * The history is a table of rows, not of unique keys: two processes may both record a migration, with equal rows.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MigrationError } from '../migration-error.ts';
import {
  createTelemetryClient,
  type TelemetryTarget,
  telemetryCluster,
  telemetryDatabase,
} from './client.ts';
import { checksum, type History, SchemaWriter } from './schema-writer.ts';

export type TelemetryMigration = {
  readonly version: number;
  readonly name: string;
  /** SQL with `{database}` where the database's quoted name belongs. */
  readonly sql: string;
  /** Releases whose newest migration is this one or a later one work on the tables that this migration leaves. Stated by a line
   *  `-- works with version N`; without it, only releases that know the migration. */
  readonly worksWith?: number;
};

export type MigrateTelemetryOptions = {
  readonly database?: string;
  /** Default: the ones of this release. */
  readonly migrations?: readonly TelemetryMigration[];
  /** Called when a newer release has migrated the store, up to this version, and this release works with it. */
  readonly onNewerSchema?: (newestVersion: number) => void;
};

const FOLDER = join(import.meta.dirname, 'migrations');
const FILE = /^(\d{4})-([a-z0-9-]+)\.sql$/;
const WORKS_WITH = /^-- works with version (\d+)$/m;

/** This release's migrations, in order. @throws Error when the folder's files are not numbered 1, 2, 3... */
export function readTelemetryMigrations(folder = FOLDER): TelemetryMigration[] {
  return readdirSync(folder)
    .sort()
    .map((file, index) => {
      const [, digits, name] = FILE.exec(file) ?? [];
      if (name === undefined || Number(digits) !== index + 1) {
        throw new Error(`${file} in ${folder} is not named as migration ${index + 1} should be`);
      }
      const sql = readFileSync(join(folder, file), 'utf8');
      const worksWith = WORKS_WITH.exec(sql)?.[1];
      return {
        version: index + 1,
        name,
        sql,
        ...(worksWith !== undefined && { worksWith: Number(worksWith) }),
      };
    });
}

/**
 * Creates the database where it is missing and applies what it lacks. Safe to run again, and at the same time from
 * several processes. Returns the versions that this call applied.
 *
 * @throws MigrationError
 * @throws ClickHouseError, or an Error with a system code when the store cannot be reached
 */
export async function migrateTelemetry(
  target: TelemetryTarget,
  options: MigrateTelemetryOptions = {},
): Promise<number[]> {
  const name = telemetryDatabase(target, options) ?? '';
  const migrations = options.migrations ?? readTelemetryMigrations();
  // A client that names a database cannot be used before that database exists.
  await using client = createTelemetryClient(target, { database: null });
  const schema = new SchemaWriter(client, name, telemetryCluster(target));
  // Nothing is written unless something is due: the user of a running service needs no rights to change the schema, and
  // a cluster with a node that is down is not kept waiting.
  const { due, newest } = await findDue(schema, migrations);
  if (newest > newestOf(migrations)) options.onNewerSchema?.(newest);
  if (due.length === 0) return [];
  await schema.create();
  const applied: number[] = [];
  for (const migration of (await findDue(schema, migrations)).due) {
    await schema.apply(migration);
    applied.push(migration.version);
  }
  // Another process of another release may have written its history meanwhile.
  if (applied.length > 0) throwOnContradictions(await schema.readHistory(), migrations);
  return applied;
}

/**
 * The steps that `migrateTelemetry` would apply now, in order. Changes nothing.
 *
 * @throws MigrationError
 * @throws ClickHouseError, or an Error with a system code when the store cannot be reached
 */
export async function dueTelemetryMigrations(
  target: TelemetryTarget,
  options: MigrateTelemetryOptions = {},
): Promise<readonly TelemetryMigration[]> {
  const name = telemetryDatabase(target, options) ?? '';
  await using client = createTelemetryClient(target, { database: null });
  const schema = new SchemaWriter(client, name, telemetryCluster(target));
  return (await findDue(schema, options.migrations ?? readTelemetryMigrations())).due;
}

/**
 * Creates the tables on those nodes of the target's cluster that lack them: a node that was added later. Its rows are
 * copied by the server. Nothing happens without a cluster.
 *
 * @throws ClickHouseError, or an Error with a system code when the store cannot be reached
 */
export async function createTablesOnCluster(target: TelemetryTarget): Promise<void> {
  const cluster = telemetryCluster(target);
  if (cluster === undefined) return;
  await using client = createTelemetryClient(target, { database: null });
  const schema = new SchemaWriter(client, telemetryDatabase(target) ?? '', cluster);
  await schema.create();
  await schema.createEverywhere(cluster);
}

interface Due {
  readonly due: readonly TelemetryMigration[];
  /** The newest migration of the store, which may be of a newer release; 0 without any. */
  readonly newest: number;
}

async function findDue(schema: SchemaWriter, migrations: readonly TelemetryMigration[]): Promise<Due> {
  const history = await schema.readHistory();
  throwOnContradictions(history, migrations);
  return {
    due: migrations.filter(({ version }) => !history.has(version)),
    newest: Math.max(0, ...history.keys()),
  };
}

function newestOf(migrations: readonly TelemetryMigration[]): number {
  return migrations.at(-1)?.version ?? 0;
}

function throwOnContradictions(history: History, migrations: readonly TelemetryMigration[]): void {
  const newest = newestOf(migrations);
  for (const [version, { name, checksums, worksWith }] of history) {
    if (version > newest) {
      if (worksWith <= newest) continue;
      throw new MigrationError(
        `The telemetry store is at version ${version} (${name}) and this release knows only ${newest}: it was migrated by a newer release, whose tables this one cannot use. Start that release.`,
      );
    }
    const migration = migrations.find((candidate) => candidate.version === version);
    if (migration === undefined)
      throw new MigrationError(`This release lacks migration ${version} (${name}).`);
    if (checksums.some((recorded) => recorded !== checksum(migration))) {
      throw new MigrationError(
        `Migration ${version} (${name}) of the telemetry store was applied with another content than this release has: restore the file and put the change into a new migration.`,
      );
    }
  }
}
