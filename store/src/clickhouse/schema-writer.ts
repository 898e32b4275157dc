/** The schema of one database of the telemetry store, on one server or on a cluster: its history, and changes to it. */
import { createHash } from 'node:crypto';
import type { ClickHouseClient } from '@clickhouse/client';
import { MigrationError } from '../migration-error.ts';
import { CLUSTER_SCHEMA_SETTINGS, createOnCluster, isUnfinished, onCluster } from './cluster.ts';
import { requireUsableCluster } from './cluster-check.ts';
import type { TelemetryMigration } from './migrate.ts';
import { parseSql, type SqlStatement, sqlName } from './sql-statement.ts';

/** A migration that was applied, by one process or by several at once. */
export interface Applied {
  readonly name: string;
  readonly checksums: readonly string[];
  /** The oldest release that works with it, by its newest migration. */
  readonly worksWith: number;
}

export type History = ReadonlyMap<number, Applied>;

interface HistoryRow {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  /** The table of an earlier release lacks it, until the next migration. */
  readonly works_with?: number;
}

export class SchemaWriter {
  readonly #client: ClickHouseClient;
  readonly #name: string;
  readonly #database: string;
  readonly #cluster: string | undefined;

  /** @throws RangeError when the database has no plain name */
  constructor(client: ClickHouseClient, name: string, cluster: string | undefined) {
    this.#client = client;
    this.#name = name;
    this.#database = sqlName(name);
    this.#cluster = cluster;
  }

  /** The migrations that were applied; none where the database is missing. */
  async readHistory(): Promise<History> {
    const tables = await this.#tables();
    const engine = tables.get('schema_migrations');
    if (engine === undefined) return new Map();
    requireEngine(engine, this.#cluster);
    const rows = await this.#rows<HistoryRow>(
      `SELECT * FROM ${this.#database}.schema_migrations ORDER BY version, applied_at`,
    );
    if (rows.length > 0 && this.#cluster !== undefined && !tables.has('request_log')) {
      throw new MigrationError(
        `This ClickHouse node lacks tables that the others of the cluster "${this.#cluster}" have: it was added later. Run \`gatehouse migrate\` with a CLICKHOUSE_URL that leads to a node that has them.`,
      );
    }
    return historyOf(rows);
  }

  /** Creates the database and the table of the history where they are missing. */
  async create(): Promise<void> {
    if (this.#cluster !== undefined) await requireUsableCluster(this.#client, this.#cluster);
    await this.#change(`CREATE DATABASE IF NOT EXISTS ${this.#database} ENGINE = Atomic`);
    await this.#change(historyTable(this.#database));
    await this.#change(
      `ALTER TABLE ${this.#database}.schema_migrations ADD COLUMN IF NOT EXISTS works_with UInt32 DEFAULT version`,
    );
    // On a node that was added later, the history is still on its way.
    if (this.#cluster !== undefined)
      await this.#client.command({ query: `SYSTEM SYNC REPLICA ${this.#database}.schema_migrations` });
  }

  async apply(migration: TelemetryMigration): Promise<void> {
    await this.#change(migration.sql.replaceAll('{database}', this.#database));
    await this.#client.insert({
      table: `${this.#database}.schema_migrations`,
      columns: ['version', 'name', 'checksum', 'works_with'],
      values: [
        [migration.version, migration.name, checksum(migration), migration.worksWith ?? migration.version],
      ],
      format: 'JSONCompactEachRow',
      clickhouse_settings: { async_insert: 0 },
    });
  }

  /** Creates each table and view of this database on every node of the cluster that lacks it. */
  async createEverywhere(cluster: string): Promise<void> {
    const found = await this.#rows<{ query: string }>(
      // Tables first: a view names the table that it fills.
      `SELECT create_table_query AS query FROM system.tables WHERE database = {name:String}
       ORDER BY engine = 'MaterializedView', name`,
    );
    for (const { query } of found) await this.#send(createOnCluster(query, cluster));
  }

  async #change(text: string): Promise<void> {
    for (const statement of parseSql(text)) await this.#send(this.#formOf(statement));
  }

  #formOf(statement: SqlStatement): string {
    return this.#cluster === undefined ? statement.sql : onCluster(statement, this.#cluster);
  }

  async #send(query: string): Promise<void> {
    try {
      await this.#client.command({
        query,
        ...(this.#cluster !== undefined && { clickhouse_settings: CLUSTER_SCHEMA_SETTINGS }),
      });
    } catch (error) {
      if (this.#cluster === undefined || !isUnfinished(error)) throw error;
    }
  }

  /** The engine of each table. */
  async #tables(): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#rows<{ name: string; engine: string }>(
      `SELECT name, engine FROM system.tables WHERE database = {name:String}`,
    );
    return new Map(rows.map(({ name, engine }) => [name, engine]));
  }

  async #rows<Row>(query: string): Promise<Row[]> {
    const answer = await this.#client.query({
      query,
      query_params: { name: this.#name },
      format: 'JSONEachRow',
    });
    return answer.json<Row>();
  }
}

export function checksum(migration: TelemetryMigration): string {
  return createHash('sha256').update(migration.sql).digest('hex');
}

function historyOf(rows: readonly HistoryRow[]): History {
  return new Map(
    [...Map.groupBy(rows, ({ version }) => version)].map(([version, own]) => [
      version,
      {
        name: own[0]?.name ?? '',
        checksums: [...new Set(own.map(({ checksum }) => checksum))],
        worksWith: Math.max(...own.map((row) => row.works_with ?? version)),
      },
    ]),
  );
}

function historyTable(database: string): string {
  return `CREATE TABLE IF NOT EXISTS ${database}.schema_migrations (
    version UInt32, name String, checksum String, applied_at DateTime64(3, 'UTC') DEFAULT now64(3),
    works_with UInt32 DEFAULT version
  ) ENGINE = MergeTree ORDER BY version SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`;
}

/** Tables do not change their kind: a cluster set, changed or removed later would split the store without a word. */
function requireEngine(engine: string, cluster: string | undefined): void {
  const isReplicated = engine.startsWith('Replicated');
  if (cluster === undefined && isReplicated) {
    throw new MigrationError(
      'The tables of the telemetry store are replicated, and CLICKHOUSE_CLUSTER is not set: set it to the cluster that they were created on.',
    );
  }
  // The service of ClickHouse's makers has an engine of its own, which is shared without a cluster.
  if (cluster !== undefined && !isReplicated && !engine.startsWith('Shared')) {
    throw new MigrationError(
      `CLICKHOUSE_CLUSTER is "${cluster}", and the tables of the telemetry store are on one server only (${engine}): remove the setting, or name another database in CLICKHOUSE_URL and copy the rows as docs/telemetry-store.md describes.`,
    );
  }
}
