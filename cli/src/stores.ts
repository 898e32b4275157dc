import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  createTelemetryClient,
  type Database,
  DEFAULT_TELEMETRY_DATABASE,
  MigrationRefused,
  migratePostgres,
  migrateTelemetry as migrateSchema,
  openDatabase,
  openEmbeddedClickHouse,
  openEmbeddedPostgres,
  type TelemetryClient,
  type TelemetryTarget,
  telemetryDatabase,
} from '@gatehouse/store';
import type { Logger } from 'pino';
import type { Config } from './config.ts';

/** The two stores, migrated and open. */
export interface Stores extends AsyncDisposable {
  readonly database: Database;
  readonly telemetry: TelemetryClient;
  /** The ClickHouse database that holds the request log. */
  readonly telemetryDatabase: string;
  /** What each store is, for the start-up text. */
  readonly inWords: { readonly postgres: string; readonly clickhouse: string };
}

// How long the start waits for the telemetry store. Past it the service serves, and goes on trying.
const TELEMETRY_PATIENCE_MS = 15_000;

/**
 * Opens PostgreSQL and ClickHouse, embedded or external, and brings both schemas up to date. PostgreSQL must be
 * there; without ClickHouse the service still serves, so its absence only warns.
 */
export async function openStores(config: Config, log: Logger): Promise<Stores> {
  await using stack = new AsyncDisposableStack();
  const [postgresOpening, clickhouseOpening] = await Promise.allSettled([
    openPostgres(config, log),
    openClickHouse(config, log),
  ]);
  // Both are in the stack before the failure of either is thrown, so that nothing stays behind.
  if (postgresOpening.status === 'fulfilled') stack.use(postgresOpening.value);
  if (clickhouseOpening.status === 'fulfilled') stack.use(clickhouseOpening.value);
  if (postgresOpening.status === 'rejected') throw postgresOpening.reason;
  if (clickhouseOpening.status === 'rejected') throw clickhouseOpening.reason;
  const postgres = postgresOpening.value;
  const clickhouse = clickhouseOpening.value;

  const applied = await migratePostgres(postgres.client);
  if (applied.length > 0) log.info({ steps: applied }, 'PostgreSQL schema brought up to date');

  const stopping = new AbortController();
  stack.defer(() => stopping.abort());
  await Promise.race([
    migrateTelemetry(clickhouse.target, log, stopping.signal),
    delay(TELEMETRY_PATIENCE_MS, undefined, { ref: false }).then(() =>
      log.warn('the telemetry store is not there yet; serving without analytics until it is'),
    ),
  ]);

  const kept = stack.move();
  return {
    database: postgres.client,
    telemetry: clickhouse.client,
    telemetryDatabase: telemetryDatabase(clickhouse.target) ?? DEFAULT_TELEMETRY_DATABASE,
    inWords: { postgres: postgres.inWords, clickhouse: clickhouse.inWords },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

interface Opened<Client> extends AsyncDisposable {
  readonly client: Client;
  readonly inWords: string;
}

async function openPostgres(config: Config, log: Logger): Promise<Opened<Database>> {
  await using stack = new AsyncDisposableStack();
  const embedded =
    config.databaseUrl === undefined
      ? stack.use(
          await openEmbeddedPostgres({
            dataDir: config.dataDir,
            onEvent: (event) => log.info({ event }, 'embedded PostgreSQL'),
          }),
        )
      : undefined;
  const address = embedded ? embedded.connection : { url: config.databaseUrl as string };
  const client = stack.use(
    openDatabase(address, { onError: (error) => log.warn({ err: error }, 'a PostgreSQL connection broke') }),
  );
  const kept = stack.move();
  return {
    client,
    inWords: embedded ? `embedded, in ${embedded.dataDirectory}` : 'external (DATABASE_URL)',
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function openClickHouse(
  config: Config,
  log: Logger,
): Promise<Opened<TelemetryClient> & { readonly target: TelemetryTarget }> {
  await using stack = new AsyncDisposableStack();
  const embedded =
    config.clickhouseUrl === undefined
      ? stack.use(
          await openEmbeddedClickHouse({
            dataDir: config.dataDir,
            onEvent: (event) => log.info({ event }, 'embedded ClickHouse'),
          }),
        )
      : undefined;
  const target = embedded ? { socketPath: embedded.socketPath } : { url: config.clickhouseUrl as string };
  const client = createTelemetryClient(target);
  stack.defer(() => client.close());
  const kept = stack.move();
  return {
    client,
    target,
    inWords: embedded
      ? `embedded engine, in ${join(resolve(config.dataDir), 'clickhouse')}`
      : 'external (CLICKHOUSE_URL)',
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Tries until it is done. Only a schema that this version cannot use is an error. */
async function migrateTelemetry(target: TelemetryTarget, log: Logger, signal: AbortSignal): Promise<void> {
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    try {
      const applied = await migrateSchema(target);
      if (applied.length > 0) log.info({ steps: applied }, 'ClickHouse schema brought up to date');
      return;
    } catch (error) {
      if (error instanceof MigrationRefused) throw error;
      if (attempt === 1) log.warn({ err: error }, 'the telemetry store cannot be used yet; trying again');
      await delay(Math.min(100 * attempt, 2_000), undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}
