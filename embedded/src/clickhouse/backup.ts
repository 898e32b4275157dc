import { randomBytes } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import {
  createTelemetryClient,
  MigrationError,
  migrateTelemetry,
  readTelemetryMigrations,
  type TelemetryTarget,
} from '@gatehouse/store';
import { sqlName, sqlString } from '@gatehouse/store/clickhouse-sql';
import type { BackupSink } from '../backup-sink.ts';

/*
 * The embedded engine refuses BACKUP (it has no setting for allowed destinations), but it can freeze a table: it makes
 * hard links to the active parts under the table's lock, which is a consistent snapshot. Parts never change, so the
 * links can be copied afterwards. To restore, parts are put into `detached` of an empty table and attached.
 *
 * key_last_used is copied like the log, because it outlives the rows that it comes from. An insert reaches the log first,
 * and the tables are frozen one after the other, so key_last_used may lack something; the service's hourly maintenance
 * repairs it. Migrating writes the history of migrations.
 */

export interface TelemetryTable {
  readonly name: string;
  readonly rows: number;
  readonly parts: readonly string[];
}

export interface TelemetrySnapshot {
  readonly version: string;
  /** The newest migration of the tables. */
  readonly schema: number;
  readonly tables: readonly TelemetryTable[];
}

const HISTORY = 'schema_migrations';
/** A table of version 1. Version 2 replaces it and computes its content from the log. */
const REPLACED = 'key_usage';
const FROZEN_PREFIX = 'gatehouse_backup_';
const LONG_MS = 3_600_000;
const WITHOUT_LIMIT = { max_execution_time: 0 };

interface FrozenTable {
  readonly name: string;
  /** The directory of its frozen parts. */
  readonly directory: string;
}

/** A snapshot of the tables. Disposing removes the links. */
export interface FrozenTelemetry extends AsyncDisposable {
  copyTo(sink: BackupSink, folder: string): Promise<TelemetrySnapshot>;
}

/** Freezes every table. Fast, whatever their size. Only one process may do this at a time. */
export async function freezeTelemetry(target: TelemetryTarget, database: string): Promise<FrozenTelemetry> {
  await using client = createTelemetryClient(target, { database: null });
  const answer = await client.query({
    query: `SELECT name, data_paths[1] AS path, version() AS version FROM system.tables
      WHERE database = ${sqlString(database)} AND engine LIKE '%MergeTree' ORDER BY name`,
    format: 'JSONEachRow',
  });
  const found = await answer.json<{ name: string; path: string; version: string }>();
  const schema = found.some(({ name }) => name === HISTORY) ? await schemaOf(client, database) : 0;
  const label = FROZEN_PREFIX + randomBytes(8).toString('hex');
  const engineDirectory = found[0] === undefined ? undefined : engineDirectoryOf(found[0].path);
  const release = async () => {
    if (engineDirectory === undefined) return;
    await rm(join(engineDirectory, 'shadow', label), { recursive: true, force: true });
  };
  if (engineDirectory !== undefined) await removeLeftovers(engineDirectory);
  const tables: FrozenTable[] = [];
  try {
    for (const { name, path } of found) {
      if (name === HISTORY || name === REPLACED) continue;
      await client.command({
        query: `ALTER TABLE ${sqlName(database)}.${sqlName(name)} FREEZE WITH NAME ${sqlString(label)}`,
      });
      const inside = relative(engineDirectory ?? '', path);
      tables.push({ name, directory: join(engineDirectory ?? '', 'shadow', label, inside) });
    }
  } catch (error) {
    await release();
    throw error;
  }
  return {
    async copyTo(sink, folder) {
      const copied: TelemetryTable[] = [];
      for (const table of tables) copied.push(await copyTable(table, sink, `${folder}/${table.name}`));
      return { version: found[0]?.version ?? '', schema, tables: copied };
    },
    [Symbol.asyncDispose]: release,
  };
}

type Client = ReturnType<typeof createTelemetryClient>;

async function schemaOf(client: Client, database: string): Promise<number> {
  const answer = await client.query({
    query: `SELECT max(version) AS version FROM ${sqlName(database)}.${sqlName(HISTORY)}`,
    format: 'JSONEachRow',
  });
  return (await answer.json<{ version: number }>())[0]?.version ?? 0;
}

/** A table's data are in `store/<three digits>/<uuid>/` of the engine's directory. */
function engineDirectoryOf(tablePath: string): string {
  const directory = dirname(dirname(dirname(join(tablePath, '.'))));
  if (basename(dirname(dirname(join(tablePath, '.')))) !== 'store')
    throw new Error(`${tablePath} is not the path of a table`);
  return directory;
}

/** The links of a killed backup keep old parts on the disk. */
async function removeLeftovers(engineDirectory: string): Promise<void> {
  const shadow = join(engineDirectory, 'shadow');
  for (const name of await readdir(shadow).catch(() => [])) {
    if (name.startsWith(FROZEN_PREFIX)) await rm(join(shadow, name), { recursive: true, force: true });
  }
}

async function copyTable(table: FrozenTable, sink: BackupSink, folder: string): Promise<TelemetryTable> {
  await sink.directory(folder);
  const parts: string[] = [];
  let rows = 0;
  // A table without rows has nothing to freeze.
  const entries = await readdir(table.directory, { withFileTypes: true }).catch(() => []);
  for (const part of entries.filter((entry) => entry.isDirectory())) {
    const directory = join(table.directory, part.name);
    for (const file of await readdir(directory, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue;
      const source = join(file.parentPath, file.name);
      const inside = relative(directory, source).split(sep).join('/');
      if (!(await sink.copy(source, `${folder}/${part.name}/${inside}`)))
        throw new Error(`${source} disappeared while it was being copied`);
    }
    rows += Number(await readFile(join(directory, 'count.txt'), 'utf8'));
    parts.push(part.name);
  }
  return { name: table.name, rows, parts: parts.sort() };
}

/**
 * Fills an empty engine from `folder`, where `copyTo` put the tables. The database gets the schema that the tables had;
 * the service migrates it at its next start.
 *
 * @throws MigrationError when a newer release has made the backup; Error when the number of rows differs
 */
export async function restoreTelemetry(
  target: TelemetryTarget,
  database: string,
  folder: string,
  { schema, tables }: Pick<TelemetrySnapshot, 'schema' | 'tables'>,
): Promise<void> {
  if (schema === 0) return;
  const migrations = readTelemetryMigrations();
  if (schema > migrations.length) {
    throw new MigrationError(
      `The backup's request log is at version ${schema} and this release knows only ${migrations.length}: it was made by a newer release. Use that release or a later one.`,
    );
  }
  await migrateTelemetry(target, { database, migrations: migrations.slice(0, schema) });
  await using client = createTelemetryClient(target, { database: null, requestTimeoutMs: LONG_MS });
  for (const table of tables) {
    await attach(client, database, table, join(folder, table.name));
    await materializeProjections(client, database, table.name);
  }
}

async function attach(
  client: Client,
  database: string,
  { name, parts, rows }: TelemetryTable,
  folder: string,
): Promise<void> {
  const table = `${sqlName(database)}.${sqlName(name)}`;
  const path = await one<{ path: string }>(
    client,
    `SELECT data_paths[1] AS path FROM system.tables WHERE database = ${sqlString(database)} AND name = ${sqlString(name)}`,
  );
  const detached = join(path.path, 'detached');
  await mkdir(detached, { recursive: true });
  // A merge combines rows of the same key, and then the count below would differ.
  await client.command({ query: `SYSTEM STOP MERGES ${table}` });
  for (const part of parts) {
    await cp(join(folder, part), join(detached, part), { recursive: true });
    await client.command({
      query: `ALTER TABLE ${table} ATTACH PART ${sqlString(part)}`,
      clickhouse_settings: WITHOUT_LIMIT,
    });
  }
  const { count } = await one<{ count: string }>(client, `SELECT count() AS count FROM ${table}`);
  if (Number(count) !== rows) throw new Error(`${table} has ${count} rows where the backup had ${rows}`);
  await client.command({ query: `SYSTEM START MERGES ${table}` });
}

/**
 * Parts that were copied while a migration was still running in the background lack projections, and are never merged
 * with parts that have them. The engine adds the missing projections in the background, also after a restart.
 */
async function materializeProjections(client: Client, database: string, name: string): Promise<void> {
  const answer = await client.query({
    query: `SELECT DISTINCT projections.name AS projection
      FROM system.projections AS projections
      JOIN system.parts AS parts ON parts.database = projections.database AND parts.table = projections.table
      WHERE parts.database = ${sqlString(database)} AND parts.table = ${sqlString(name)} AND parts.active
        AND NOT has(parts.projections, projections.name)`,
    format: 'JSONEachRow',
  });
  for (const { projection } of await answer.json<{ projection: string }>()) {
    await client.command({
      query: `ALTER TABLE ${sqlName(database)}.${sqlName(name)} MATERIALIZE PROJECTION ${sqlName(projection)}
        SETTINGS mutations_sync = 0`,
    });
  }
}

async function one<Row>(client: Client, query: string): Promise<Row> {
  const answer = await client.query({ query, format: 'JSONEachRow', clickhouse_settings: WITHOUT_LIMIT });
  const [row] = await answer.json<Row>();
  if (!row) throw new Error(`no row for: ${query}`);
  return row;
}
