import type { AddressInfo } from 'node:net';
import { createControlPlane, startMaintenance } from '@gatehouse/control-plane';
import type { KeyRing } from '@gatehouse/store';
import type { Logger } from 'pino';
import type { Config, Role } from './config.ts';
import { type ListenOrder, startGatewayChild } from './gateway-child.ts';
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts';
import { servedHosts } from './hosts.ts';
import { makeDataDirectory, prepareRoutes, readChosenCatalogue } from './installation.ts';
import { cannotListen, GRACE_MS, type Listener } from './listener.ts';
import { openMasterKeys } from './master-key.ts';
import { openStores, type Stores } from './stores.ts';

/** A running service: this process, and one for the gateway where it runs both parts. */
export interface Service extends AsyncDisposable {
  /** The ports it listens on; undefined where the role has no such part. */
  readonly apiPort: number | undefined;
  readonly gatewayPort: number | undefined;
  readonly inWords: Stores['inWords'];
  readonly database: Stores['database'];
  readonly schemaRefused: Stores['schemaRefused'];
}

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
  // It loads its code while the stores open. Of its two closings the second is for a start that fails before the first.
  const gatewayProcess = role === 'all' ? stack.use(openGatewayProcess(config, environment, log)) : undefined;
  const stores = stack.use(await openStores(config, log));
  const { keys, keyRing } = await openMasterKeys(config, environment, stores.database, log);
  const loaded = await prepareRoutes(stores.database, config, chosen);
  if (loaded > 0) log.info({ routes: loaded }, 'the catalogue was loaded');

  const parts = { config, stores, keyRing, log };
  // Both stop accepting at the same moment and share one time to finish; the journal and the stores come after.
  const listeners: Listener[] = [];
  const gateway = gatewayProcess
    ? inProcess(gatewayProcess, {
        environment: { ...environment },
        serviceLogin: stores.serviceLogin,
        telemetryTarget: stores.telemetryTarget,
        masterKeys: keys.map((key) => key.reveal()),
      })
    : role === 'gateway'
      ? stack.use(await openGateway(parts, environment))
      : undefined;
  stack.defer(async () => {
    await Promise.all(listeners.map((listener) => listener.close()));
  });
  const api = role === 'gateway' ? undefined : createApi(parts, stack);
  if (api) listeners.push(api);
  if (gateway) listeners.push(gateway);
  const apiPort = await api?.listen(config.host, config.apiPort);
  const gatewayPort = await gateway?.listen(config.host, config.gatewayPort);

  const kept = stack.move();
  return {
    apiPort,
    gatewayPort,
    inWords: stores.inWords,
    database: stores.database,
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
    startMaintenance({
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

function openGatewayProcess(
  config: Config,
  environment: Readonly<Record<string, string | undefined>>,
  log: Logger,
): GatewayProcess {
  const startChild = () => startGatewayChild({ heapMb: config.gatewayHeapMb, environment });
  return startGatewayProcess({ startChild, log });
}

function inProcess(process: GatewayProcess, order: Omit<ListenOrder, 'port'>): Listener {
  return {
    // The address is in the settings, which the process reads for itself.
    listen: (_, port) => process.listen({ ...order, port }),
    close: () => process.close(),
  };
}

async function openGateway(
  { config, stores, keyRing, log }: Parts,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Listener & AsyncDisposable> {
  // Loaded only here: the tokenizer alone takes more memory than the API.
  const { openGatewayService } = await import('./gateway-service.ts');
  const { database, telemetry, telemetryDatabase } = stores;
  return openGatewayService({ config, environment, database, telemetry, telemetryDatabase, keyRing, log });
}
