import { mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  createControlPlane,
  prepareCatalogue,
  readCatalogue,
  startHousekeeping,
} from '@gatehouse/control-plane';
import { createGateway, openJournal, telemetryFor } from '@gatehouse/gateway';
import type { Logger } from 'pino';
import { type Config, ConfigFault, type Role } from './config.ts';
import { openStores, type Stores } from './stores.ts';

/** A running service, in one process. */
export interface Service extends AsyncDisposable {
  /** The ports it listens on; undefined where the role has no such part. */
  readonly apiPort: number | undefined;
  readonly gatewayPort: number | undefined;
  readonly inWords: Stores['inWords'];
}

/** How long requests in flight may take to finish once a stop is asked for, in ms. */
const GRACE_MS = 25_000;

const SHIPPED_CATALOGUE = join(import.meta.dirname, '../../catalogue.yaml');

/**
 * Opens everything in order and returns once it listens. Disposing stops it in reverse: no new connections,
 * requests in flight finish, what they left behind is shipped, the stores close.
 */
export async function openService(
  config: Config,
  role: Role,
  environment: Readonly<Record<string, string | undefined>>,
  log: Logger,
): Promise<Service> {
  await using stack = new AsyncDisposableStack();
  await makeDataDirectory(config.dataDir);
  const stores = stack.use(await openStores(config, log));
  const loaded = await prepareCatalogue(stores.database, {
    hasDemo: config.databaseUrl === undefined,
    load: async () => readCatalogue(...(await catalogueFile(config))),
  });
  if (loaded > 0) log.info({ routes: loaded }, 'the catalogue was loaded');

  const apiPort = role === 'gateway' ? undefined : await openApi(config, stores, log, stack);
  const gatewayPort = role === 'api' ? undefined : await openGateway(config, stores, environment, log, stack);

  const kept = stack.move();
  return {
    apiPort,
    gatewayPort,
    inWords: stores.inWords,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

// What is inside closes itself to others. The directory may be passed through, because the embedded PostgreSQL of a
// service that runs as root runs as somebody else.
async function makeDataDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o711 }).catch((error: NodeJS.ErrnoException) => {
    throw new ConfigFault(`DATA_DIR is ${JSON.stringify(path)}, which cannot be made: ${error.message}`);
  });
}

async function catalogueFile(config: Config): Promise<[text: string, source: string]> {
  const path = config.catalogue === undefined ? SHIPPED_CATALOGUE : resolve(config.catalogue);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new ConfigFault(`CATALOGUE is ${JSON.stringify(path)}, which cannot be read: ${error.message}`);
  });
  return [text, path];
}

async function openApi(
  config: Config,
  stores: Stores,
  log: Logger,
  stack: AsyncDisposableStack,
): Promise<number> {
  const settings = {
    allowedOrigins: config.allowedOrigins,
    trustedProxyHops: config.trustedProxyHops,
    joinPolicy: config.joinPolicy,
    signupCreditMicroPkr: config.signupCreditMicroPkr,
    signInAttempts: config.signInAttempts,
    signInWindowSeconds: 15 * 60,
    analyticsTimeoutMs: config.analyticsTimeoutMs,
  };
  stack.use(startHousekeeping(stores.database, log, settings.signInWindowSeconds));
  const server = createControlPlane({
    database: stores.database,
    telemetry: stores.telemetry,
    log,
    settings,
  });
  stack.defer(async () => {
    const cut = setTimeout(() => server.server.closeAllConnections(), GRACE_MS);
    await server.close();
    clearTimeout(cut);
  });
  await server.listen({ host: config.host, port: config.apiPort });
  const address = server.server.address();
  return typeof address === 'object' && address ? address.port : config.apiPort;
}

async function openGateway(
  config: Config,
  stores: Stores,
  environment: Readonly<Record<string, string | undefined>>,
  log: Logger,
  stack: AsyncDisposableStack,
): Promise<number> {
  const journal = stack.use(
    await openJournal({
      directory: join(resolve(config.dataDir), 'journal'),
      database: stores.database,
      ...telemetryFor(stores.telemetry, stores.telemetryDatabase),
      log,
    }),
  );
  const gateway = createGateway({
    database: stores.database,
    journal,
    log,
    clock: { now: Date.now, monotonic: () => performance.now() },
    settings: {
      bodyLimitBytes: config.gatewayBodyLimitMb * 1024 * 1024,
    },
    platformKey: (name) => environment[name]?.trim() || undefined,
  });
  stack.defer(() => gateway.close({ graceMs: GRACE_MS }));
  return (await gateway.listen({ host: config.host, port: config.gatewayPort })).port;
}
