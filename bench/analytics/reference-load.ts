import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TelemetryClient } from '@gatehouse/store';
import { DAYS, databaseOf, END_MICROS } from './fill.ts';
import { progress } from './progress.ts';
import type { ReferenceServer } from './reference-server.ts';
import { type BenchStores, clickhouseTimeouts, rowsOf } from './stores.ts';

// The rows of a filled store in PostgreSQL: the engine writes a day to a file, PostgreSQL copies it in. In the order of
// time, as they would have come.

type Connection = Awaited<ReturnType<ReturnType<ReferenceServer['open']>['connect']>>;

// Durations in whole microseconds and names by number keep a row, and so an index, narrow.
const TABLES = `
CREATE TABLE models (id smallint PRIMARY KEY, name text NOT NULL UNIQUE);
CREATE TABLE user_agents (id smallint PRIMARY KEY, name text NOT NULL UNIQUE);
CREATE TABLE loaded (day int PRIMARY KEY);
CREATE TABLE loaded_from (fingerprint text);
CREATE TYPE ending AS ENUM ('success', 'proxy_guillotine', 'client_disconnect', 'upstream_stream_aborted');
CREATE TABLE requests (
  organization_id uuid NOT NULL, key_id uuid, project_id uuid, request_id uuid NOT NULL,
  timestamp timestamptz NOT NULL, cost_micro_pkr bigint NOT NULL,
  total_us int NOT NULL, ttft_us int, generation_us int, tpot_us int, pre_dispatch_us int NOT NULL,
  prompt_tokens int, tokens_generated int NOT NULL, total_tokens int NOT NULL,
  cache_creation_input_tokens int, cache_read_input_tokens int,
  model_id smallint NOT NULL, status smallint NOT NULL, user_agent_id smallint NOT NULL,
  stream boolean NOT NULL, tokens_estimated boolean NOT NULL, is_byok boolean NOT NULL, is_throttled boolean NOT NULL,
  termination_reason ending NOT NULL, upstream_error text, upstream_model text,
  metadata jsonb NOT NULL, search_text text NOT NULL
)`;

const SUMMED = `total_us, ttft_us, generation_us, tokens_generated, total_tokens, cost_micro_pkr`;

// The first answers every query on a whole organisation, except the request log's columns, without the table.
const INDEXES = [
  `CREATE INDEX IF NOT EXISTS by_time ON requests (organization_id, timestamp DESC, request_id DESC)
   INCLUDE (${SUMMED}, key_id, project_id, model_id, status, is_throttled)`,
  `CREATE INDEX IF NOT EXISTS by_key ON requests (organization_id, key_id, timestamp DESC) INCLUDE (${SUMMED}, model_id)`,
  `CREATE INDEX IF NOT EXISTS by_model ON requests (organization_id, model_id, timestamp DESC)`,
  `CREATE INDEX IF NOT EXISTS by_search ON requests USING gin (search_text gin_trgm_ops)`,
];

const number = (column: string, names: readonly string[]) =>
  `indexOf([${names.map((name) => `'${name.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`).join()}], ${column})`;

const micros = (column: string) => `toInt64(round(${column} * 1000))`;

const columns = (models: readonly string[], userAgents: readonly string[]) => [
  'organization_id, key_id, project_id, request_id, timestamp, cost_micro_pkr, total_us, ttft_us, generation_us',
  micros('tpot_ms'),
  micros('pre_dispatch_ms'),
  'prompt_tokens, tokens_generated, total_tokens, cache_creation_input_tokens, cache_read_input_tokens',
  number('toString(model)', models),
  'status',
  number('toString(user_agent)', userAgents),
  'stream, tokens_estimated, toBool(is_byok)',
  "toBool(status = 429 AND refusal = 'rate_limit_exceeded')",
  'termination_reason, upstream_error, upstream_model, toJSONString(metadata)',
  "replaceAll(search_text, '\\0', '\\n')",
];

/** Loads a filled store's rows into PostgreSQL, and continues an interrupted run. */
export async function loadReference(
  stores: BenchStores,
  reference: ReferenceServer,
  rows: number,
): Promise<void> {
  const name = databaseOf(rows);
  await using client = stores.connect(name);
  const [{ fingerprint = '' } = {}] = await rowsOf<{ fingerprint?: string }>(
    client,
    `SELECT toString((count(), sum(cost_micro_pkr), sum(total_tokens), max(request_id))) AS fingerprint FROM request_log`,
  );
  if (await isOfOther(reference, name, fingerprint)) await inPostgres(reference, `DROP DATABASE ${name}`);
  if (!(await isThere(reference, name))) await inPostgres(reference, `CREATE DATABASE ${name}`);
  await using database = reference.open(name);
  const connection = await database.connect();
  try {
    const startedAt = performance.now();
    await connection.query('CREATE EXTENSION IF NOT EXISTS pg_trgm');
    if (!(await exists(connection, 'requests')))
      await connection.query(
        `BEGIN; ${TABLES}; INSERT INTO loaded_from VALUES ('${escaped(fingerprint)}'); COMMIT`,
      );
    await copyDays(stores, client, connection, rows);
    for (const index of INDEXES) {
      await connection.query(index);
      progress(`${name} in PostgreSQL: ${index.split(' ')[5]} made after ${since(startedAt)}`);
    }
    if (!(await exists(connection, 'is_ready'))) {
      await connection.query('VACUUM (ANALYZE) requests');
      await connection.query('CREATE TABLE is_ready ()');
    }
    const { rows: counted } = await connection.query(
      `SELECT count(*)::float8 AS stored, pg_total_relation_size('requests')::float8 AS bytes FROM requests`,
    );
    if (counted[0].stored !== rows) throw new Error(`PostgreSQL has ${counted[0].stored} rows of ${rows}`);
    const { rows: indexes } = await connection.query(
      `SELECT indexrelid::regclass::text AS name, pg_relation_size(indexrelid)::float8 AS bytes
       FROM pg_index WHERE indrelid = 'requests'::regclass ORDER BY 1`,
    );
    const sizes = [{ name: 'in all', bytes: counted[0].bytes }, ...indexes].map(
      (one: { name: string; bytes: number }) => `${one.name} ${(one.bytes / 1e9).toFixed(2)} GB`,
    );
    progress(`${name} in PostgreSQL: ready after ${since(startedAt)}, ${sizes.join(', ')}`);
  } finally {
    await connection.end();
  }
}

const since = (startedAt: number) => `${((performance.now() - startedAt) / 1000).toFixed(0)} s`;

const escaped = (text: string) => text.replaceAll("'", "''");

async function inPostgres(reference: ReferenceServer, sql: string) {
  await using postgres = reference.open('postgres');
  const connection = await postgres.connect();
  try {
    return await connection.query(sql);
  } finally {
    await connection.end();
  }
}

async function isThere(reference: ReferenceServer, name: string): Promise<boolean> {
  return (await inPostgres(reference, `SELECT FROM pg_database WHERE datname = '${name}'`)).rowCount !== 0;
}

/** True if a database exists that was loaded from other rows than the store has now. */
async function isOfOther(reference: ReferenceServer, name: string, fingerprint: string): Promise<boolean> {
  if (!(await isThere(reference, name))) return false;
  await using database = reference.open(name);
  const connection = await database.connect();
  try {
    if (!(await exists(connection, 'loaded_from'))) return true;
    const { rows } = await connection.query('SELECT fingerprint FROM loaded_from');
    return rows[0]?.fingerprint !== fingerprint;
  } finally {
    await connection.end();
  }
}

async function exists(connection: Connection, table: string): Promise<boolean> {
  const { rowCount } = await connection.query('SELECT FROM pg_class WHERE relname = $1', [table]);
  return rowCount !== 0;
}

async function copyDays(
  stores: BenchStores,
  client: TelemetryClient,
  connection: Connection,
  rows: number,
): Promise<void> {
  const names = async (column: string) =>
    (
      await rowsOf<{ name: string }>(
        client,
        `SELECT DISTINCT toString(${column}) AS name FROM request_log ORDER BY name`,
      )
    ).map((row) => row.name);
  const [models, userAgents] = [await names('model'), await names('user_agent')];
  for (const [table, known] of [
    ['models', models],
    ['user_agents', userAgents],
  ] as const) {
    await connection.query(
      `INSERT INTO ${table} SELECT place, name FROM unnest($1::text[]) WITH ORDINALITY AS n (name, place) ON CONFLICT DO NOTHING`,
      [known],
    );
  }
  // Readable for the server, which may run as another user.
  const folder = join(stores.directory, 'reference-files');
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const { rows: done } = await connection.query('SELECT day FROM loaded');
  const loaded = new Set(done.map((row: { day: number }) => row.day));
  for (let day = DAYS; day >= 0; day -= 1) {
    if (loaded.has(day)) continue;
    const file = join(folder, `${rows}-${day}.tsv`);
    await rm(file, { force: true });
    // The last day reaches to the end, and the first from whenever the rows begin.
    const end = `fromUnixTimestamp64Micro(${END_MICROS - BigInt(day) * 86_400_000_000n})`;
    await client.command({
      query: `INSERT INTO FUNCTION file('${file}', 'TSV')
              SELECT ${columns(models, userAgents).join(', ')} FROM request_log
              WHERE timestamp > ${end} - INTERVAL 1 DAY AND timestamp <= ${end} ORDER BY timestamp`,
      clickhouse_settings: clickhouseTimeouts,
    });
    await connection.query('BEGIN');
    await connection.query(`COPY requests FROM '${file}'`);
    await connection.query('INSERT INTO loaded VALUES ($1)', [day]);
    await connection.query('COMMIT');
    await rm(file);
    if (day % 10 === 0) progress(`${databaseOf(rows)} in PostgreSQL: ${day} days to go`);
  }
}
