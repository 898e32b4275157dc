import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Database, type NoParameters, sql, statement, type TelemetryClient } from '@gatehouse/store';

// The sizes of the stores and of the data directory.

export interface TableSample {
  readonly rows: number;
  readonly bytes: number;
}

const listTables = statement<NoParameters, { name: string; rows: number; bytes: number }>(
  'soak-list-tables',
  sql`SELECT CASE WHEN c.relname LIKE 'settlements\\_%' THEN 'settlements' ELSE c.relname END AS name,
             sum(coalesce(pg_stat_get_live_tuples(c.oid), 0))::float8 AS rows, sum(pg_total_relation_size(c.oid))::float8 AS bytes
      FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
      GROUP BY 1 ORDER BY 1`,
);
const findServer = statement<NoParameters, { connections: number; walBytes: number; databaseBytes: number }>(
  'soak-find-server',
  sql`SELECT (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')::float8 AS connections,
             (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 AS wal_bytes,
             pg_database_size(current_database())::float8 AS database_bytes`,
);
const ENGINE_TABLES = `SELECT concat(database, '.', table) AS name, sum(rows) AS rows, sum(bytes_on_disk) AS bytes, count() AS parts
  FROM system.parts WHERE active GROUP BY name ORDER BY name`;

export async function samplePostgres(database: Database) {
  const tables = new Map<string, TableSample>();
  for (const { name, rows, bytes } of await database.many(listTables)) tables.set(name, { rows, bytes });
  const server = await database.one(findServer);
  return { tables, ...server };
}

export async function sampleEngine(
  telemetry: TelemetryClient,
): Promise<Map<string, TableSample & { readonly parts: number }>> {
  const answer = await telemetry.query({ query: ENGINE_TABLES, format: 'JSONEachRow' });
  const rows = await answer.json<{ name: string; rows: string; bytes: string; parts: string }>();
  return new Map(
    rows.map(({ name, rows: count, bytes, parts }) => [
      name,
      { rows: Number(count), bytes: Number(bytes), parts: Number(parts) },
    ]),
  );
}

export interface FolderSample {
  readonly files: number;
  readonly bytes: number;
}

/** The parts of the data directory. */
export async function sampleFolders(dataDir: string): Promise<Map<string, FolderSample>> {
  const folders = new Map<string, FolderSample>();
  for (const path of ['journal', 'clickhouse', 'postgres/pg_wal', 'postgres/base'])
    folders.set(path, await measure(join(dataDir, path)));
  folders.set('all', await measure(dataDir));
  return folders;
}

async function measure(folder: string): Promise<FolderSample> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  let files = 0;
  let bytes = 0;
  for (const name of names) {
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (!found?.isFile()) continue;
    files += 1;
    // The blocks on the disk: a sparse file is smaller than it looks.
    bytes += found.blocks * 512;
  }
  return { files, bytes };
}
