import { finishesWithin } from '@gatehouse/concurrency';
import {
  createTelemetryClient,
  type Database,
  DEFAULT_TELEMETRY_DATABASE,
  migratePostgres,
  type NoParameters,
  requirePooledSession,
  requireServiceRole,
  SERVICE_ROLE,
  SERVICE_TIMEOUTS,
  sql,
  statement,
  type TelemetryClient,
  type TelemetryTarget,
  telemetryDatabase,
} from '@gatehouse/store';
import type { Logger } from 'pino';
import { type Config, ConfigError } from '../config/config.ts';
import { logStoreEvent } from '../log/log-store-event.ts';
import { awaitPostgres } from './await-postgres.ts';
import { type ClickHouseServer, openClickHouseServer } from './clickhouse.ts';
import { migrateTelemetryInBackground } from './migrate-telemetry.ts';
import { openAsService, openPostgresServer, type PostgresServer, type ServiceLogin } from './postgres.ts';

/** Both stores, open; PostgreSQL migrated. */
export interface Stores extends AsyncDisposable {
  readonly database: Database;
  /** How the gateway process connects to the same database. */
  readonly serviceLogin: ServiceLogin;
  readonly telemetry: TelemetryClient;
  readonly telemetryTarget: TelemetryTarget;
  /** Resolves once the telemetry store has its schema; rejects as `schemaError` does. */
  readonly telemetryMigrated: Promise<void>;
  /** The ClickHouse database that holds the request log. */
  readonly telemetryDatabase: string;
  /** Rejects if the telemetry store, once it can be reached, has a schema that this version cannot use. */
  readonly schemaError: Promise<never>;
  /** The process id of the embedded ClickHouse engine, null while none answers; undefined with an external one. */
  readonly enginePid: (() => number | null) | undefined;
  readonly descriptions: StoreDescriptions;
  readonly whenAnswered: WhenAnswered;
}

/**
 * Does what a start needs of PostgreSQL. An external one is waited for while it does not answer, for `START_TIMEOUT`, and all of it is
 * done again then: it must not matter how often it is done.
 */
export type WhenAnswered = <Prepared>(prepare: () => Promise<Prepared>) => Promise<Prepared>;

/** The description of each store, for the start-up text. */
export interface StoreDescriptions {
  readonly postgres: string;
  readonly clickhouse: string;
  /** Why ClickHouse does not answer, if it does not. */
  readonly telemetryFailure: string | undefined;
}

const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;
// How long the start waits for the telemetry store. After that the service serves and retries in the background.
const TELEMETRY_TIMEOUT_MS = 3_000;

/**
 * Opens PostgreSQL and ClickHouse, embedded or external, and migrates both. Without PostgreSQL the start fails; without
 * ClickHouse the service serves all but analytics and logs a warning.
 */
export async function openStores(config: Config, log: Logger): Promise<Stores> {
  await using stack = new AsyncDisposableStack();
  const [postgresOpening, clickhouseOpening] = await Promise.allSettled([
    openPostgres(config, log),
    openClickHouse(config, log),
  ]);
  // Both are on the stack before the error of either is thrown, so that both are closed.
  if (postgresOpening.status === 'fulfilled') stack.use(postgresOpening.value);
  if (clickhouseOpening.status === 'fulfilled') stack.use(clickhouseOpening.value);
  if (postgresOpening.status === 'rejected') throw postgresOpening.reason;
  if (clickhouseOpening.status === 'rejected') throw clickhouseOpening.reason;
  const postgres = postgresOpening.value;
  const clickhouse = clickhouseOpening.value;

  const schema = stack.use(migrateTelemetryInBackground(clickhouse.server, log));
  const hasTelemetry = await finishesWithin(schema.migrated, TELEMETRY_TIMEOUT_MS);
  if (!hasTelemetry) {
    log.warn(
      { event: 'service.started_without_telemetry' },
      'serving without analytics until ClickHouse answers',
    );
  }

  const schemaError = schema.migrated.then(() => new Promise<never>(() => undefined));
  // A failure before anything awaits it is not an unhandled rejection.
  schemaError.catch(() => undefined);

  const resources = stack.move();
  return {
    database: postgres.client,
    serviceLogin: postgres.serviceLogin,
    telemetry: clickhouse.client,
    telemetryTarget: clickhouse.target,
    telemetryMigrated: schema.migrated,
    telemetryDatabase: telemetryDatabase(clickhouse.target) ?? DEFAULT_TELEMETRY_DATABASE,
    schemaError,
    whenAnswered: postgres.whenAnswered,
    enginePid: clickhouse.enginePid,
    descriptions: {
      postgres: postgres.description,
      clickhouse: clickhouse.description,
      telemetryFailure: hasTelemetry ? undefined : (schema.failure() ?? 'no answer yet'),
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

interface Opened<Client> extends AsyncDisposable {
  readonly client: Client;
  readonly description: string;
}

async function openPostgres(
  config: Config,
  log: Logger,
): Promise<Opened<Database> & { readonly serviceLogin: ServiceLogin; readonly whenAnswered: WhenAnswered }> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(
    await openPostgresServer(config, (event) => logStoreEvent(log, 'PostgreSQL', event)),
  );
  const whenAnswered: WhenAnswered = (prepare) =>
    server.isEmbedded ? prepare() : awaitAtStart(prepare, config, log);
  const client = stack.use(await whenAnswered(() => prepareDatabase(server, config, log)));
  const resources = stack.move();
  return {
    client,
    serviceLogin: server.serviceLogin,
    whenAnswered,
    description: server.description,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Migrates the database, and opens it with the rights of the service. */
async function prepareDatabase(server: PostgresServer, config: Config, log: Logger): Promise<Database> {
  await migrateAsOwner(server, log).catch((error: unknown) => {
    throw server.explained(error, 'owner');
  });
  return openForService(server, config, log).catch((error: unknown) => {
    throw server.explained(error, 'service');
  });
}

async function migrateAsOwner(server: PostgresServer, log: Logger): Promise<void> {
  await using owner = server.openOwner({ poolSize: 1 });
  const applied = await migratePostgres(owner, {
    serviceMayLogIn: server.isEmbedded,
    onNewerSchema: (step) =>
      log.info(
        { event: 'postgres.schema_newer', step },
        'a newer version has migrated PostgreSQL; it is used as it is',
      ),
    onRightsDiffer: (difference) =>
      log.warn(
        { event: 'postgres.rights_differ', difference },
        'an owner or a right in PostgreSQL differs from the schema; gatehouse migrate restores it',
      ),
  });
  if (applied.length > 0)
    log.info({ event: 'postgres.migrated', steps: applied }, 'PostgreSQL schema migrated');
}

async function openForService(server: PostgresServer, config: Config, log: Logger): Promise<Database> {
  await using stack = new AsyncDisposableStack();
  const client = stack.use(
    openAsService(server.serviceLogin, {
      poolSize: config.databasePoolSize,
      onError: (error) =>
        log.warn({ event: 'postgres.connection_lost', err: error }, 'PostgreSQL connection lost'),
    }),
  );
  if (server.serviceLogin.isPooled) await requirePooledSession(client, SERVICE_ROLE, SERVICE_TIMEOUTS);
  await requireServiceRole(client);
  if (config.databaseOwnerUrl !== undefined) await requireOneDatabase(server, client);
  stack.move();
  return client;
}

/** Ctrl-C and SIGTERM end the wait. */
async function awaitAtStart<Prepared>(
  prepare: () => Promise<Prepared>,
  { startTimeoutSeconds }: Config,
  log: Logger,
): Promise<Prepared> {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  for (const signal of STOP_SIGNALS) process.once(signal, stop);
  try {
    const timeoutMs = startTimeoutSeconds * 1_000;
    return await awaitPostgres(prepare, { timeoutMs, log, signal: stopping.signal });
  } finally {
    for (const signal of STOP_SIGNALS) process.off(signal, stop);
  }
}

const firstStep = statement<NoParameters, { appliedAt: string }>(
  'stores-first-step',
  sql`SELECT applied_at FROM schema_migrations WHERE number = 1`,
);

/** Two addresses can name two databases. The time of its first migration identifies a database. */
async function requireOneDatabase(server: PostgresServer, service: Database): Promise<void> {
  await using owner = server.openOwner({ poolSize: 1 });
  const [ofOwner, ofService] = await Promise.all([owner.one(firstStep), service.one(firstStep)]);
  if (ofOwner?.appliedAt !== ofService?.appliedAt)
    throw new ConfigError('DATABASE_URL and DATABASE_OWNER_URL name different databases; expected one');
}

async function openClickHouse(
  config: Config,
  log: Logger,
): Promise<
  Opened<TelemetryClient> & {
    readonly server: ClickHouseServer;
    readonly target: TelemetryTarget;
    readonly enginePid: (() => number | null) | undefined;
  }
> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(
    await openClickHouseServer(config, { onEvent: (event) => logStoreEvent(log, 'ClickHouse', event) }),
  );
  const client = createTelemetryClient(server.target);
  stack.defer(() => client.close());
  const resources = stack.move();
  return {
    client,
    server,
    target: server.target,
    enginePid: server.enginePid,
    description: server.description,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
