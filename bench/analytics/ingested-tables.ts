import { migrateTelemetry } from '@gatehouse/store';
import { dropTelemetry } from './fill.ts';
import { type BenchStores, clickhouseTimeouts, rowsOf } from './stores.ts';

interface Ingested extends AsyncDisposable {
  readonly database: string;
}

/** A copy of a filled database to write into. Its parts are links to the same files, so it is there at once. */
export async function cloneTelemetry(
  stores: BenchStores,
  source: string,
  database: string,
): Promise<Ingested> {
  await dropTelemetry(stores, database);
  await migrateTelemetry(stores.telemetry, { database });
  await attachParts(stores, source, database);
  return { database, [Symbol.asyncDispose]: () => dropTelemetry(stores, database) };
}

/** Another such copy, with the rows alone: no hourly rollup and no view. */
export async function plainTelemetry(
  stores: BenchStores,
  source: string,
  database: string,
): Promise<Ingested> {
  const copy = await cloneTelemetry(stores, source, database);
  await using client = stores.connect(null);
  for (const projection of ['hourly_by_key', 'hourly_by_model']) {
    await client.command({
      query: `ALTER TABLE ${database}.request_log DROP PROJECTION ${projection}`,
      clickhouse_settings: { ...clickhouseTimeouts, mutations_sync: '2' },
    });
  }
  await client.command({ query: `DROP VIEW ${database}.key_last_used_from_request_log SYNC` });
  return copy;
}

async function attachParts(stores: BenchStores, source: string, database: string): Promise<void> {
  await using client = stores.connect(null);
  const partitions = await rowsOf<{ id: string }>(
    client,
    `SELECT DISTINCT partition_id AS id FROM system.parts
     WHERE active AND database = '${source}' AND table = 'request_log' ORDER BY id`,
  );
  for (const { id } of partitions) {
    await client.command({
      query: `ALTER TABLE ${database}.request_log ATTACH PARTITION ID '${id}' FROM ${source}.request_log`,
      clickhouse_settings: clickhouseTimeouts,
    });
  }
  await client.command({
    query: `INSERT INTO ${database}.key_last_used SELECT * FROM ${source}.key_last_used`,
  });
}
