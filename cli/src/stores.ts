import { setTimeout as delay } from 'node:timers/promises';
import {
  createTelemetryClient,
  type Database,
  DEFAULT_TELEMETRY_DATABASE,
  migratePostgres,
  requireServiceRole,
  statement,
  type TelemetryClient,
  type TelemetryTarget,
  telemetryDatabase,
} from '@gatehouse/store';
import type { Logger } from 'pino';
import { openClickHouseServer } from './clickhouse.ts';
import { type Config, ConfigFault } from './config.ts';
import { openAsService, openPostgresServer, type PostgresServer, type ServiceLogin } from './postgres.ts';
import { bringUpToDate } from './telemetry-schema.ts';

/** The two stores, migrated and open. */
export interface Stores extends AsyncDisposable {
  readonly database: Database;
  /** How a process of the service that has its own connections reaches the same database. */
  readonly serviceLogin: ServiceLogin;
  readonly telemetry: TelemetryClient;
  readonly telemetryTarget: TelemetryTarget;
  /** Resolves once the telemetry store has its schema; rejects as `schemaRefused` does. */
  readonly telemetryUpToDate: Promise<void>;
  /** The ClickHouse database that holds the request log. */
  readonly telemetryDatabase: string;
  /** Rejects if the telemetry store, once it can be reached, has a schema that this version cannot use. */
  readonly schemaRefused: Promise<never>;
  /** What each store is, for the start-up text. */
  readonly inWords: { readonly postgres: string; readonly clickhouse: string };
}

// How long the start waits for the telemetry store. Past it the service serves, and goes on trying.
const TELEMETRY_PATIENCE_MS = 3_000;

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

  const schema = stack.use(bringUpToDate(clickhouse.target, log));
  const isThere = await within(TELEMETRY_PATIENCE_MS, schema.upToDate);
  if (!isThere) log.warn('the telemetry store is not there yet; serving without analytics until it is');

  const schemaRefused = schema.upToDate.then(() => new Promise<never>(() => undefined));
  // It may come before anybody waits for it, and is no crash then.
  schemaRefused.catch(() => undefined);

  const kept = stack.move();
  return {
    database: postgres.client,
    serviceLogin: postgres.serviceLogin,
    telemetry: clickhouse.client,
    telemetryTarget: clickhouse.target,
    telemetryUpToDate: schema.upToDate,
    telemetryDatabase: telemetryDatabase(clickhouse.target) ?? DEFAULT_TELEMETRY_DATABASE,
    schemaRefused,
    inWords: { postgres: postgres.inWords, clickhouse: clickhouse.inWords },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

interface Opened<Client> extends AsyncDisposable {
  readonly client: Client;
  readonly inWords: string;
}

async function openPostgres(
  config: Config,
  log: Logger,
): Promise<Opened<Database> & { readonly serviceLogin: ServiceLogin }> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(
    await openPostgresServer(config, (event) => tell(log, event, 'embedded PostgreSQL')),
  );
  {
    await using owner = server.openOwner({ poolSize: 1 });
    const applied = await migratePostgres(owner, { serviceMayLogIn: server.isEmbedded });
    if (applied.length > 0) log.info({ steps: applied }, 'PostgreSQL schema brought up to date');
  }
  const client = stack.use(
    openAsService(server.serviceLogin, {
      onError: (error) => log.warn({ err: error }, 'a PostgreSQL connection broke'),
    }),
  );
  await requireServiceRole(client);
  if (config.databaseOwnerUrl !== undefined) await requireOneDatabase(server, client);
  const kept = stack.move();
  return {
    client,
    serviceLogin: server.serviceLogin,
    inWords: server.inWords,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

const firstStep = statement<{ applied_at: string }>(
  'stores-first-step',
  'SELECT applied_at FROM schema_migrations WHERE number = 1',
);

/** Two addresses can lead to two databases. The moment at which a database was made tells it from any other. */
async function requireOneDatabase(server: PostgresServer, service: Database): Promise<void> {
  await using owner = server.openOwner({ poolSize: 1 });
  const [ofOwner, ofService] = await Promise.all([owner.one(firstStep), service.one(firstStep)]);
  if (ofOwner?.applied_at !== ofService?.applied_at)
    throw new ConfigFault('DATABASE_URL and DATABASE_OWNER_URL lead to different databases; expected one');
}

async function openClickHouse(
  config: Config,
  log: Logger,
): Promise<Opened<TelemetryClient> & { readonly target: TelemetryTarget }> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(
    await openClickHouseServer(config, { onEvent: (event) => tell(log, event, 'embedded ClickHouse') }),
  );
  const client = createTelemetryClient(server.target);
  stack.defer(() => client.close());
  const kept = stack.move();
  return {
    client,
    target: server.target,
    inWords: server.description,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

const NORMAL_EVENTS = new Set([
  'ready',
  'started',
  'joined',
  'orphaned-server-stopped',
  'orphaned-processes-ended',
]);

/** A store that was lost is a fault, even if it is soon back. */
function tell(log: Logger, event: { readonly kind: string }, store: string): void {
  log[NORMAL_EVENTS.has(event.kind) ? 'info' : 'warn']({ event }, store);
}

/** Whether the work was done in time; it goes on either way. */
async function within(ms: number, work: Promise<void>): Promise<boolean> {
  const called = new AbortController();
  try {
    return await Promise.race([
      work.then(() => true),
      delay(ms, false, { signal: called.signal }).catch(() => false),
    ]);
  } finally {
    called.abort();
  }
}
