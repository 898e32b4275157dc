import { join, resolve } from 'node:path';
import { type Clock, systemClock } from '@gatehouse/concurrency';
import { createGateway, observeJournal, type RateLimiter } from '@gatehouse/gateway';
import { openJournal, telemetryFor } from '@gatehouse/gateway/journal';
import type { Metrics, Tracing } from '@gatehouse/observability';
import type { Database, KeyRing, TelemetryClient } from '@gatehouse/store';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { servedHosts } from '../config/hosts.ts';
import { platformKeys } from '../config/platform-keys.ts';
import { proxyOfSettings } from '../config/proxy-settings.ts';
import { cannotListen, GRACE_MS, type Listener } from '../listen/listener.ts';
import { openCertificate } from '../listen/tls-certificate.ts';
import { tuneCollector } from './gateway-heap.ts';

/** The dependencies of a gateway, whichever process it runs in. */
export interface GatewayDependencies {
  readonly config: Config;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly database: Database;
  readonly telemetry: TelemetryClient;
  readonly telemetryDatabase: string;
  readonly keyRing: KeyRing;
  /** Counts in this process unless given. */
  readonly rates?: RateLimiter | undefined;
  readonly metrics: Metrics;
  readonly tracing: Tracing | undefined;
  readonly log: Logger;
}

/** A gateway and its journal. Disposing closes the listener if it is open, and then ships and closes the journal. */
export interface GatewayService extends Listener, AsyncDisposable {
  listen(host: string, port: number, reusePort?: boolean): Promise<number>;
  close(graceMs?: number): Promise<void>;
}

/** Opens the journal, recovers what dead processes left in theirs, and makes a gateway that does not listen yet. */
export async function openGatewayService({
  config,
  environment,
  database,
  telemetry,
  telemetryDatabase,
  keyRing,
  rates,
  metrics,
  tracing,
  log,
}: GatewayDependencies): Promise<GatewayService> {
  tuneCollector();
  const certificate = await openCertificate(config, log);
  const journal = await openJournal({
    directory: join(resolve(config.dataDir), 'journal'),
    database,
    minFreeBytes: config.diskMinFreeMb * 1024 * 1024,
    ...telemetryFor(
      telemetry,
      telemetryDatabase,
      config.clickhouseCluster === undefined ? undefined : config.clickhouseInsertQuorum,
    ),
    log,
  });
  observeJournal(metrics, journal);
  const gateway = createGateway({
    database,
    journal,
    metrics,
    tracing,
    log,
    clock: createClock(),
    settings: {
      bodyLimitBytes: config.gatewayBodyLimitMb * 1024 * 1024,
      rateLimitCeilingRpm: config.rateLimitCeilingRpm,
      allowedHosts: servedHosts(config, config.publicGatewayUrl),
      corsOrigins: config.gatewayCorsOrigins,
      metadataHeaders: config.metadataHeaders,
      traceContextTo: config.traceContextTo,
      certificate: certificate?.current,
    },
    proxyOf: proxyOfSettings(config),
    platformKey: platformKeys(environment, log),
    keyRing,
    ...(rates && { rates }),
  });
  const renewal = certificate?.renew(gateway.useCertificate);
  const close = (graceMs = GRACE_MS) => gateway.close({ graceMs });
  return {
    async listen(host, port, reusePort = false) {
      const address = { host, port, reusePort };
      return (await gateway.listen(address).catch(cannotListen('GATEWAY_PORT', host, port))).port;
    },
    announceStop: gateway.announceStop,
    close,
    async [Symbol.asyncDispose]() {
      await close();
      renewal?.[Symbol.dispose]();
      await journal[Symbol.asyncDispose]();
    },
  };
}

// The system's time of day has milliseconds only. The monotonic clock adds the microseconds, and is aligned again after the
// time of day was set.
function createClock(): Clock {
  let offsetMs = performance.timeOrigin;
  return {
    ...systemClock,
    epochMs() {
      const wallMs = Date.now();
      const fineMs = performance.now() + offsetMs;
      if (Math.abs(fineMs - wallMs - 0.5) <= 2) return fineMs;
      offsetMs += wallMs - fineMs;
      return wallMs;
    },
  };
}
