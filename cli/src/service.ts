import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { createControlPlane, startHousekeeping } from '@gatehouse/control-plane';
import { type Clock, createGateway, type Journal, openJournal, telemetryFor } from '@gatehouse/gateway';
import type { KeyRing } from '@gatehouse/store';
import type { Logger } from 'pino';
import { type Config, ConfigFault, type Role } from './config.ts';
import { servedHosts } from './hosts.ts';
import { makeDataDirectory, prepareRoutes, readChosenCatalogue } from './installation.ts';
import { openMasterKeys } from './master-key.ts';
import { openStores, type Stores } from './stores.ts';

/** A running service, in one process. */
export interface Service extends AsyncDisposable {
  /** The ports it listens on; undefined where the role has no such part. */
  readonly apiPort: number | undefined;
  readonly gatewayPort: number | undefined;
  readonly inWords: Stores['inWords'];
  readonly schemaRefused: Stores['schemaRefused'];
}

/** How long requests in flight may take to finish once a stop is asked for, in ms. */
const GRACE_MS = 25_000;

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
  // A file that somebody chose is checked at every start, though it is loaded only while there are no routes.
  const chosen = await readChosenCatalogue(config);
  const stores = stack.use(await openStores(config, log));
  const keyRing = await openMasterKeys(config, environment, stores.database, log);
  const loaded = await prepareRoutes(stores.database, config, chosen);
  if (loaded > 0) log.info({ routes: loaded }, 'the catalogue was loaded');

  const parts = { config, stores, keyRing, log };
  const journal = role === 'api' ? undefined : stack.use(await openServiceJournal(parts));
  // Both stop accepting at the same moment and share one time to finish; the journal and the stores come after.
  const listeners: Listener[] = [];
  stack.defer(async () => {
    await Promise.all(listeners.map((listener) => listener.close()));
  });
  const api = role === 'gateway' ? undefined : createApi(parts, stack);
  const gateway = journal && createServiceGateway(parts, journal, environment);
  if (api) listeners.push(api);
  if (gateway) listeners.push(gateway);
  const apiPort = await api?.listen(config.host, config.apiPort);
  const gatewayPort = await gateway?.listen(config.host, config.gatewayPort);

  const kept = stack.move();
  return {
    apiPort,
    gatewayPort,
    inWords: stores.inWords,
    schemaRefused: stores.schemaRefused,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

interface Parts {
  readonly config: Config;
  readonly stores: Stores;
  readonly keyRing: KeyRing;
  readonly log: Logger;
}

/** One of the two parts that take requests. */
interface Listener {
  /** Resolves with the port. Throws ConfigFault when it cannot listen there. */
  listen(host: string, port: number): Promise<number>;
  /** Takes no more requests, and resolves once those in flight have finished or had their time. */
  close(): Promise<void>;
}

function createApi({ config, stores, keyRing, log }: Parts, stack: AsyncDisposableStack): Listener {
  const settings = {
    allowedOrigins: config.allowedOrigins,
    allowedHosts: servedHosts(config),
    trustedProxyHops: config.trustedProxyHops,
    trustedProxies: config.trustedProxies,
    joinPolicy: config.joinPolicy,
    signupCreditMicroPkr: config.signupCreditMicroPkr,
    google:
      config.googleClientId === undefined
        ? undefined
        : { clientId: config.googleClientId, issuer: config.googleIssuer },
    signInAttempts: config.signInAttempts,
    signInWindowSeconds: 15 * 60,
    registrationsPerNetwork: config.registrationsPerNetwork,
    registrationsPerHour: config.registrationsPerHour,
    rateLimitCeilingRpm: config.rateLimitCeilingRpm,
    analyticsTimeoutMs: config.analyticsTimeoutMs,
  };
  stack.use(
    startHousekeeping({
      database: stores.database,
      telemetry: stores.telemetry,
      log,
      signInWindowSeconds: settings.signInWindowSeconds,
      telemetryRetentionDays: config.telemetryRetentionDays,
    }),
  );
  const server = createControlPlane({
    database: stores.database,
    telemetry: stores.telemetry,
    keyRing,
    log,
    settings,
  });
  return {
    async listen(host, port) {
      await server.listen({ host, port }).catch(cannotListen('PORT', host, port));
      return (server.server.address() as AddressInfo).port;
    },
    async close() {
      const cut = setTimeout(() => server.server.closeAllConnections(), GRACE_MS);
      await server.close();
      clearTimeout(cut);
    },
  };
}

function openServiceJournal({ config, stores, log }: Parts) {
  return openJournal({
    directory: join(resolve(config.dataDir), 'journal'),
    database: stores.database,
    minFreeBytes: config.diskMinFreeMb * 1024 * 1024,
    ...telemetryFor(stores.telemetry, stores.telemetryDatabase),
    log,
  });
}

function createServiceGateway(
  { config, stores, keyRing, log }: Parts,
  journal: Journal,
  environment: Readonly<Record<string, string | undefined>>,
): Listener {
  const gateway = createGateway({
    database: stores.database,
    journal,
    log,
    clock: createClock(),
    settings: {
      bodyLimitBytes: config.gatewayBodyLimitMb * 1024 * 1024,
      allowedHosts: servedHosts(config),
    },
    platformKey: (name) => environment[name]?.trim() || undefined,
    keyRing,
  });
  return {
    async listen(host, port) {
      return (await gateway.listen({ host, port }).catch(cannotListen('GATEWAY_PORT', host, port))).port;
    },
    close: () => gateway.close({ graceMs: GRACE_MS }),
  };
}

function cannotListen(setting: string, host: string, port: number): (error: Error) => never {
  return (error) => {
    throw new ConfigFault(
      `HOST is ${host} and ${setting} is ${port}, where nothing can listen: ${error.message}`,
    );
  };
}

// The wall clock tells milliseconds only; the monotonic one fills in what is below, and is set right again when the
// wall clock was moved.
function createClock(): Clock {
  let offsetMs = performance.timeOrigin;
  return {
    monotonic: () => performance.now(),
    now() {
      const wallMs = Date.now();
      const fineMs = performance.now() + offsetMs;
      if (Math.abs(fineMs - wallMs - 0.5) <= 2) return fineMs;
      offsetMs += wallMs - fineMs;
      return wallMs;
    },
  };
}
