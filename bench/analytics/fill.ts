import { setTimeout as delay } from 'node:timers/promises';
import { MigrationError, migrateTelemetry } from '@gatehouse/store';
import { fillRequestLog, makeBenchProfile } from '@gatehouse/traffic';
import { progress } from './progress.ts';
import { type BenchStores, clickhouseTimeouts, rowsOf } from './stores.ts';

/** Every window ends here: 2026-11-20T10:30:00.123456Z. */
export const END_MICROS = 1_795_170_600_123_456n;
export const DAYS = 90;
const SEED = 1;

export const databaseOf = (rows: number) => `bench_${rows}`;

export interface FillOptions {
  readonly database: string;
  readonly rows: number;
  readonly days: number;
  readonly organizations: number;
}

/** Fills a database with traffic, unless it has these rows, and waits until the engine has merged its parts. */
export async function fillTelemetry(stores: BenchStores, options: FillOptions): Promise<void> {
  const { database, rows, days, organizations } = options;
  await using client = stores.connect(null);
  if (!(await isFilled(stores, database, rows))) {
    await client.command({ query: `DROP DATABASE IF EXISTS ${database} SYNC` });
    await migrateTelemetry(stores.telemetry, { database });
    const startedAt = performance.now();
    await fillRequestLog(client, database, makeBenchProfile({ organizations, seed: SEED }), {
      rows,
      days,
      endMicros: END_MICROS,
      seed: SEED,
      onProgress: ({ rows: done }) => progress(`${database}: ${done} of ${rows} rows`),
    });
    const seconds = (performance.now() - startedAt) / 1000;
    progress(`${database}: filled in ${seconds.toFixed(0)} s, ${Math.round(rows / seconds)} rows/s`);
  }
  await mergeOldMonths(stores, database);
  await settle(stores, database);
}

/** As the engine does itself a day after the end of a month (min_age_to_force_merge_seconds). */
async function mergeOldMonths(stores: BenchStores, database: string): Promise<void> {
  await using client = stores.connect(null);
  const months = await rowsOf<{ month: string }>(
    client,
    `SELECT DISTINCT partition_id AS month FROM system.parts
     WHERE active AND database = '${database}' AND table = 'request_log' ORDER BY month`,
  );
  for (const { month } of months.slice(0, -1)) {
    await client.command({
      query: `OPTIMIZE TABLE ${database}.request_log PARTITION ID '${month}' FINAL`,
      clickhouse_settings: { ...clickhouseTimeouts, optimize_skip_merged_partitions: 1 },
    });
  }
}

/** True if it has all rows, in the tables that this version has. */
async function isFilled(stores: BenchStores, database: string, rows: number): Promise<boolean> {
  const counted = await countRows(stores, database);
  if (counted === 0) return false;
  progress(`${database} has ${counted} rows`);
  if (counted !== rows) return false;
  try {
    await migrateTelemetry(stores.telemetry, { database });
    return true;
  } catch (error) {
    if (!(error instanceof MigrationError)) throw error;
    progress(`${database} is filled again: ${error.message}`);
    return false;
  }
}

async function countRows(stores: BenchStores, database: string): Promise<number> {
  await using client = stores.connect(null);
  const [row] = await rowsOf<{ stored: number }>(
    client,
    `SELECT sum(total_rows) AS stored FROM system.tables WHERE database = '${database}' AND name = 'request_log'`,
  );
  return row?.stored ?? 0;
}

/** Waits for the merges after a fill, which would be measured with the queries. */
async function settle(stores: BenchStores, database: string): Promise<void> {
  await using client = stores.connect(null);
  for (let quiet = 0; quiet < 3; ) {
    const [row] = await rowsOf<{ merging: number }>(
      client,
      `SELECT count() AS merging FROM system.merges WHERE database = '${database}'`,
    );
    quiet = row?.merging === 0 ? quiet + 1 : 0;
    await delay(1_000);
  }
}

/** The size of a database on disk. */
export async function sizeOf(stores: BenchStores, database: string) {
  await using client = stores.connect(null);
  const [row] = await rowsOf<{ parts: number; bytes: number; projection_bytes: number }>(
    client,
    `SELECT (SELECT count() FROM system.parts WHERE active AND database = '${database}' AND table = 'request_log') AS parts,
            (SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = '${database}') AS bytes,
            (SELECT sum(bytes_on_disk) FROM system.projection_parts WHERE active AND database = '${database}')
              AS projection_bytes`,
  );
  return row ?? { parts: 0, bytes: 0, projection_bytes: 0 };
}

/** Removes a database. */
export async function dropTelemetry(stores: BenchStores, database: string): Promise<void> {
  await using client = stores.connect(null);
  await client.command({
    query: `DROP DATABASE IF EXISTS ${database} SYNC`,
    clickhouse_settings: clickhouseTimeouts,
  });
}
