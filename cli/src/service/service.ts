import type { AddressInfo } from 'node:net';
import { finishesWithin } from '@gatehouse/concurrency';
import {
  createControlPlane,
  type GatewayAddress,
  startAlertSender,
  startMaintenance,
} from '@gatehouse/control-plane';
import type { Catalogue } from '@gatehouse/control-plane/catalogue';
import { observeMoney } from '@gatehouse/control-plane/ledger';
import { Metrics, type Tracing } from '@gatehouse/observability';
import type { KeyRing } from '@gatehouse/store';
import type { Logger } from 'pino';
import { smtpSettings } from '../config/alert-settings.ts';
import type { Config, Role } from '../config/config.ts';
import { servedHosts } from '../config/hosts.ts';
import { proxyOfSettings } from '../config/proxy-settings.ts';
import { oidcSettings } from '../config/sign-in-settings.ts';
import { cannotListen, GRACE_MS, type Listener } from '../listen/listener.ts';
import { gatewayUrl } from '../listen/listener-address.ts';
import { type OpenCertificate, openCertificate } from '../listen/tls-certificate.ts';
import { observeEngine, observeProcess } from '../metrics/observe-process.ts';
import { openMetrics } from '../metrics/open-metrics.ts';
import { openTracing } from '../otlp/open-tracing.ts';
import { type ListenOptions, startGatewayChild } from '../process/gateway-child.ts';
import { defaultGatewayHeapMb } from '../process/gateway-heap.ts';
import { type GatewayProcesses, startGatewayProcesses } from '../process/gateway-processes.ts';
import { openRates } from '../process/rates.ts';
import { openStores, type Stores } from '../stores/stores.ts';
import { openMasterKeys, readGivenKeys } from '../vault/master-key.ts';
import type { Dashboard } from './dashboard.ts';
import { prepareRoutes, requireUsableProviders } from './installation.ts';

/** A running service: this process and the gateway processes, if it has any. */
export interface Service extends AsyncDisposable {
  /** Undefined for a listener that the role does not have. */
  readonly apiPort: number | undefined;
  readonly gatewayPort: number | undefined;
  /** Undefined where none is set. */
  readonly metricsPort: number | undefined;
  readonly descriptions: Stores['descriptions'];
  readonly database: Stores['database'];
  readonly whenAnswered: Stores['whenAnswered'];
  readonly schemaError: Stores['schemaError'];
  /** On both listeners `/readyz` answers 503 from here on; everything else is served until the service is disposed. */
  announceStop(): void;
}

/** The contents that the service reads from files. */
export interface ServiceFiles {
  /** Loaded if the database has no routes. */
  readonly catalogue: Catalogue | undefined;
  /** Undefined where it is not served. */
  readonly dashboard: Dashboard | undefined;
}

/**
 * Opens everything in order and returns once it listens. Disposing stops it in reverse: no new connections, requests in
 * flight finish, the journal is shipped, the stores close.
 */
export async function openService(
  config: Config,
  role: Role,
  environment: Readonly<Record<string, string | undefined>>,
  { catalogue, dashboard }: ServiceFiles,
  log: Logger,
): Promise<Service> {
  const givenKeys = await readGivenKeys(config, environment);
  await using stack = new AsyncDisposableStack();
  // Beside an API, or as one of several, the gateway is not in this process. The processes load their code while the
  // stores open. The stack closes them when the start fails before they are a listener.
  const hasProcesses = role === 'all' || (role === 'gateway' && config.gatewayProcesses > 1);
  const gatewayProcesses = hasProcesses
    ? stack.use(openGatewayProcesses(config, environment, log))
    : undefined;
  const stores = stack.use(await openStores(config, log));
  const { database, whenAnswered } = stores;
  const { keys, keyRing } = await whenAnswered(() =>
    openMasterKeys(config, environment, database, log, givenKeys),
  );
  const loaded = await whenAnswered(() => prepareRoutes(database, config, catalogue));
  if (loaded > 0) log.info({ event: 'catalogue.loaded', routes: loaded }, 'catalogue loaded');
  await whenAnswered(() => requireUsableProviders(database, role, environment));

  const certificate = role === 'gateway' ? undefined : await openCertificate(config, log);
  const metrics = new Metrics();
  observeProcess(metrics, stores.database);
  if (stores.enginePid) observeEngine(metrics, stores.enginePid);
  const name = processName(role, hasProcesses);
  const { tracing } = stack.use(await openTracing(config, name, metrics, log));
  const dependencies = { config, stores, keyRing, dashboard, certificate, metrics, tracing, log };
  // Below the listeners on the stack: what a drain does can be watched.
  const { port: metricsPort } = stack.use(
    await openMetrics({
      config,
      metrics,
      name,
      collectOthers: gatewayProcesses && (() => gatewayProcesses.metrics()),
      log,
    }),
  );
  // Both stop accepting at the same time and share the time to finish; the journal and the stores close afterwards.
  const listeners: Listener[] = [];
  const gateway = gatewayProcesses
    ? inProcesses(gatewayProcesses, {
        environment: { ...environment },
        serviceLogin: stores.serviceLogin,
        telemetryTarget: stores.telemetryTarget,
        masterKeys: keys.map((key) => key.reveal()),
      })
    : role === 'gateway'
      ? stack.use(await openGateway(dependencies, environment, stack))
      : undefined;
  stack.defer(async () => {
    await Promise.all(listeners.map((listener) => listener.close()));
  });
  // 0 takes any free port, which is known once the gateway listens.
  let knownGatewayPort = config.gatewayPort || undefined;
  const gatewayAddress = {
    url: () => gatewayUrl(config, knownGatewayPort),
    port: () => knownGatewayPort,
  };
  const api = role === 'gateway' ? undefined : createApi(dependencies, gatewayAddress, stack);
  if (api) listeners.push(api);
  if (gateway) listeners.push(gateway);
  const apiPort = await api?.listen(config.host, config.apiPort);
  const gatewayPort = await gateway?.listen(config.host, config.gatewayPort);
  knownGatewayPort ??= gatewayPort;

  const resources = stack.move();
  return {
    apiPort,
    gatewayPort,
    metricsPort,
    descriptions: stores.descriptions,
    database,
    whenAnswered,
    schemaError: stores.schemaError,
    announceStop() {
      for (const listener of listeners) listener.announceStop();
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** The name of this process in metrics and traces. */
function processName(role: Role, hasProcesses: boolean): string {
  if (role !== 'gateway') return 'api';
  return hasProcesses ? 'supervisor' : 'gateway';
}

interface Dependencies {
  readonly config: Config;
  readonly stores: Stores;
  readonly keyRing: KeyRing;
  readonly dashboard: Dashboard | undefined;
  readonly metrics: Metrics;
  readonly tracing: Tracing | undefined;
  readonly certificate: OpenCertificate | undefined;
  readonly log: Logger;
}

function createApi(
  { config, stores, keyRing, dashboard, certificate, metrics, tracing, log }: Dependencies,
  gateway: GatewayAddress,
  stack: AsyncDisposableStack,
): Listener {
  const settings = {
    allowedOrigins: config.allowedOrigins,
    allowedHosts: servedHosts(config, config.publicUrl),
    trustedProxyHops: config.trustedProxyHops,
    trustedProxies: config.trustedProxies,
    joinPolicy: config.joinPolicy,
    signupCreditMicroPkr: config.signupCreditMicroPkr,
    google:
      config.googleClientId === undefined
        ? undefined
        : { clientId: config.googleClientId, issuer: config.googleIssuer },
    oidc: oidcSettings(config),
    passwordSignIn: config.passwordSignIn,
    publicUrl: config.publicUrl,
    signInAttempts: config.signInAttempts,
    signInWindowSeconds: 15 * 60,
    registrationsPerNetwork: config.registrationsPerNetwork,
    registrationsPerHour: config.registrationsPerHour,
    keysPerOrganization: config.keysPerOrganization,
    rateLimitCeilingRpm: config.rateLimitCeilingRpm,
    analyticsTimeoutMs: config.analyticsTimeoutMs,
    alerts: { webhookHosts: config.alertWebhookHosts, smtp: smtpSettings(config) },
    proxyOf: proxyOfSettings(config),
    gateway,
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
  const { database } = stores;
  stack.use(
    startAlertSender({
      database,
      keyRing,
      settings: settings.alerts,
      proxyOf: settings.proxyOf,
      metrics,
      log,
    }),
  );
  observeMoney(metrics, stores.database);
  const server = createControlPlane({
    database: stores.database,
    telemetry: stores.telemetry,
    keyRing,
    dashboard: dashboard?.files,
    metrics,
    tracing,
    log,
    settings,
    certificate: certificate?.current,
  });
  if (certificate) stack.use(certificate.renew(server.useCertificate));
  return {
    async listen(host, port) {
      await server.listen({ host, port }).catch(cannotListen('PORT', host, port));
      return (server.server.address() as AddressInfo).port;
    },
    announceStop: server.announceStop,
    async close() {
      const closed = server.close();
      if (!(await finishesWithin(closed, GRACE_MS))) server.server.closeAllConnections();
      await closed;
    },
  };
}

function openGatewayProcesses(
  config: Config,
  environment: Readonly<Record<string, string | undefined>>,
  log: Logger,
): GatewayProcesses {
  const heapMb = config.gatewayHeapMb ?? defaultGatewayHeapMb();
  const startChild = () => startGatewayChild({ heapMb, environment });
  const { gatewayProcesses: count, dataDir } = config;
  return startGatewayProcesses({ count, startChild, dataDir, hasRedis: config.redis !== undefined, log });
}

function inProcesses(processes: GatewayProcesses, options: Omit<ListenOptions, 'port' | 'shared'>): Listener {
  return {
    // A process reads the address from the settings itself.
    listen: (host, port) => processes.listen(host, { ...options, port }),
    announceStop: () => processes.announceStop(),
    close: () => processes.close(),
  };
}

async function openGateway(
  { config, stores, keyRing, metrics, tracing, log }: Dependencies,
  environment: Readonly<Record<string, string | undefined>>,
  stack: AsyncDisposableStack,
): Promise<Listener & AsyncDisposable> {
  // Imported only here: an API beside gateway processes has no use for it.
  const { openGatewayService } = await import('../process/gateway-service.ts');
  const { database, telemetry, telemetryDatabase } = stores;
  const rates = await openRates(config, undefined, log);
  if (rates) stack.defer(() => rates.close());
  return openGatewayService({
    ...{ config, environment, database, telemetry, telemetryDatabase, keyRing, rates, metrics, tracing, log },
  });
}
