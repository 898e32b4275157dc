/**
 * Migrates the telemetry store's schema.
 *
 * ClickHouse has no transactions and no locks. So every statement of a migration can run again (IF NOT EXISTS), a
 * migration is recorded after its last statement, and a process that was stopped half-way, or that runs beside another,
 * applies it again. The record holds a checksum of the file, comments included: a file that was changed after it was
 * applied, and a store that a newer release has migrated, are errors.
 *
 * The history is a table of rows, not of unique keys: two processes may both record a migration, with equal rows.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClickHouseClient } from '@clickhouse/client';
import { MigrationError } from '../migration-error.ts';
import { createTelemetryClient, type TelemetryTarget, telemetryDatabase } from './client.ts';
import { parseSql, sqlName } from './sql-statement.ts';

export type TelemetryMigration = {
  readonly version: number;
  readonly name: string;
  /** SQL with `{database}` where the database's quoted name belongs. */
  readonly sql: string;
};

export type MigrateTelemetryOptions = {
  readonly database?: string;
  /** Default: the ones of this release. */
  readonly migrations?: readonly TelemetryMigration[];
};

const FOLDER = join(import.meta.dirname, 'migrations');
const FILE = /^(\d{4})-([a-z0-9-]+)\.sql$/;

/** This release's migrations, in order. @throws Error when the folder's files are not numbered 1, 2, 3... */
export function readTelemetryMigrations(folder = FOLDER): TelemetryMigration[] {
  return readdirSync(folder)
    .sort()
    .map((file, index) => {
      const [, digits, name] = FILE.exec(file) ?? [];
      if (name === undefined || Number(digits) !== index + 1) {
        throw new Error(`${file} in ${folder} is not named as migration ${index + 1} should be`);
      }
      return { version: index + 1, name, sql: readFileSync(join(folder, file), 'utf8') };
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
  const database = sqlName(telemetryDatabase(target, options) ?? '');
  const migrations = options.migrations ?? readTelemetryMigrations();
  // A client that names a database cannot be used before that database exists.
  await using client = createTelemetryClient(target, { database: null });
  await client.command({ query: `CREATE DATABASE IF NOT EXISTS ${database} ENGINE = Atomic` });
  await client.command({ query: historyTable(database) });
  const applied: number[] = [];
  const history = await readHistory(client, database);
  throwOnContradictions(history, migrations);
  for (const migration of migrations) {
    if (history.has(migration.version)) continue;
    await apply(client, database, migration);
    applied.push(migration.version);
  }
  // Another process of another release may have written its history meanwhile.
  if (applied.length > 0) throwOnContradictions(await readHistory(client, database), migrations);
  return applied;
}

/**
 * What `migrateTelemetry` would apply now, in order. Changes nothing.
 *
 * @throws MigrationError
 * @throws ClickHouseError, or an Error with a system code when the store cannot be reached
 */
export async function dueTelemetryMigrations(
  target: TelemetryTarget,
  options: MigrateTelemetryOptions = {},
): Promise<TelemetryMigration[]> {
  const name = telemetryDatabase(target, options) ?? '';
  const migrations = options.migrations ?? readTelemetryMigrations();
  await using client = createTelemetryClient(target, { database: null });
  const answer = await client.query({
    query: `SELECT 1 FROM system.tables WHERE database = {name:String} AND name = 'schema_migrations'`,
    query_params: { name },
    format: 'JSONEachRow',
  });
  if ((await answer.json()).length === 0) return [...migrations];
  const history = await readHistory(client, sqlName(name));
  throwOnContradictions(history, migrations);
  return migrations.filter(({ version }) => !history.has(version));
}

function historyTable(database: string): string {
  return `CREATE TABLE IF NOT EXISTS ${database}.schema_migrations (
    version UInt32, name String, checksum String, applied_at DateTime64(3, 'UTC') DEFAULT now64(3)
  ) ENGINE = MergeTree ORDER BY version SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`;
}

async function apply(
  client: ClickHouseClient,
  database: string,
  migration: TelemetryMigration,
): Promise<void> {
  for (const { sql } of parseSql(migration.sql.replaceAll('{database}', database))) {
    await client.command({ query: sql });
  }
  await client.insert({
    table: `${database}.schema_migrations`,
    columns: ['version', 'name', 'checksum'],
    values: [[migration.version, migration.name, checksum(migration)]],
    format: 'JSONCompactEachRow',
    clickhouse_settings: { async_insert: 0 },
  });
}

type History = ReadonlyMap<number, { readonly name: string; readonly checksums: readonly string[] }>;

async function readHistory(client: ClickHouseClient, database: string): Promise<History> {
  const answer = await client.query({
    query: `SELECT version, any(name) AS name, groupUniqArray(checksum) AS checksums
      FROM ${database}.schema_migrations GROUP BY version ORDER BY version`,
    format: 'JSONEachRow',
  });
  const rows = await answer.json<{ version: number; name: string; checksums: string[] }>();
  return new Map(rows.map(({ version, name, checksums }) => [version, { name, checksums }]));
}

function throwOnContradictions(history: History, migrations: readonly TelemetryMigration[]): void {
  const newest = migrations.at(-1)?.version ?? 0;
  for (const [version, { name, checksums }] of history) {
    if (version > newest) {
      throw new MigrationError(
        `The telemetry store is at version ${version} (${name}) and this release knows only ${newest}: it was migrated by a newer release, which must be used.`,
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

function checksum(migration: TelemetryMigration): string {
  return createHash('sha256').update(migration.sql).digest('hex');
}
