import { randomBytes } from 'node:crypto';
import { type FairScheduler, systemClock } from '@gatehouse/concurrency';
import { endpoints } from '@gatehouse/contract';
import type { Certificate } from '@gatehouse/http';
import { Metrics, queueMetrics, type Tracing } from '@gatehouse/observability';
import {
  createReadiness,
  type Database,
  type KeyRing,
  type TelemetryClient,
  withTransactionTimeout,
} from '@gatehouse/store';
import type { Logger } from 'pino';
import { listActivity, recordsFrom } from './activity/index.ts';
import { alertEndpoints } from './alerts/index.ts';
import { analyticsEndpoints, createQueryScheduler, type PageSizes } from './analytics/index.ts';
import {
  authEndpoints,
  authNavigations,
  createPasswords,
  findSession,
  openGoogle,
  openOidc,
  type Passwords,
  tenantOfToken,
} from './auth/index.ts';
import { listRoutes } from './catalogue/index.ts';
import { ApiMetrics } from './http/api-metrics.ts';
import type { DashboardFiles } from './http/dashboard/dashboard-files.ts';
import type { Implementation } from './http/implement.ts';
import { createServer, type HttpServer } from './http/server.ts';
import {
  createKey,
  getBudget,
  getKey,
  listKeys,
  openKeyChanges,
  revokeKey,
  rotateKey,
  updateKey,
} from './keys/index.ts';
import { limitEndpoints } from './limits/index.ts';
import { listMembers, listProjects, renameOrganization } from './organization/index.ts';
import { createScheduling, type Scheduling } from './scheduling.ts';
import { getService } from './service/index.ts';
import type { ControlPlaneSettings } from './settings.ts';
import { vaultEndpoints } from './vault/index.ts';

export interface ControlPlaneDependencies {
  readonly database: Database;
  readonly telemetry: TelemetryClient;
  /** The vault's master keys. */
  readonly keyRing: KeyRing;
  readonly log: Logger;
  readonly settings: ControlPlaneSettings;
  /** The files of the dashboard as they are now; undefined where it is not served. */
  readonly dashboard?: (() => DashboardFiles) | undefined;
  /** The metrics that it counts in; nowhere that can be read unless given. */
  readonly metrics?: Metrics;
  /** Nothing is traced unless given. */
  readonly tracing?: Tracing | undefined;
  /** With it the API speaks HTTPS only. */
  readonly certificate?: Certificate | undefined;
  /** The current time of analytics, in microseconds since the epoch. */
  readonly nowMicros?: () => bigint;
  /** A monotonic clock in milliseconds, for the age of cached identity-provider documents. */
  readonly monotonicMs?: () => number;
  /** How long a request waits for a permit: for the database (default 5 s) or for password hashing (default 10 s). */
  readonly permitTimeoutMs?: number;
  /** The hasher of passwords, for tests. */
  readonly passwords?: Passwords;
  /** Page sizes of analytics replies, for tests. */
  readonly pages?: PageSizes;
  /** Delays before retries of a later page, for tests. The default outlasts a restart of the store. */
  readonly retryDelaysMs?: readonly number[];
}

// The system clock has millisecond resolution. The end of the millisecond includes everything that happened in it.
const endOfThisMillisecond = () => BigInt(systemClock.epochMs()) * 1000n + 999n;

// A caller that waits longer has left. A slow network would otherwise add up over the statements of a transaction.
const TRANSACTION_TIMEOUT_MS = 10_000;

/** The implementation of every endpoint of the contract. */
export function implementations(
  dependencies: ControlPlaneDependencies,
  scheduling: Scheduling = createScheduling(dependencies.database),
  metrics: ApiMetrics = new ApiMetrics(new Metrics()),
  analyticsQueries: FairScheduler = createQueryScheduler(),
): Implementation[] {
  const { database, telemetry, log, settings } = dependencies;
  const keyChanges = openKeyChanges(scheduling.databaseOfOrganization, dependencies.permitTimeoutMs);
  const google = openGoogle({
    log,
    settings,
    monotonicMs: dependencies.monotonicMs ?? systemClock.monotonicMs,
    nowMs: systemClock.epochMs,
  });
  return [
    getService(settings, google),
    ...authEndpoints({
      databaseFor: scheduling.databaseOfCaller,
      passwords: dependencies.passwords ?? createPasswords(dependencies.permitTimeoutMs),
      log,
      settings,
      google,
    }),
    renameOrganization(database),
    listMembers(database),
    listProjects(database),
    listRoutes(database),
    createKey(keyChanges, settings, randomBytes),
    listKeys(scheduling.databaseOfOrganization, telemetry, log, settings.rateLimitCeilingRpm),
    getKey(scheduling.databaseOfOrganization, telemetry, log, settings.rateLimitCeilingRpm),
    updateKey(keyChanges, settings.rateLimitCeilingRpm),
    rotateKey(keyChanges, randomBytes),
    revokeKey(keyChanges),
    getBudget(database),
    ...limitEndpoints(database),
    ...alertEndpoints({ database, log, keyRing: dependencies.keyRing }, settings.alerts),
    ...vaultEndpoints({ database, log, keyRing: dependencies.keyRing }),
    ...analyticsEndpoints({
      database,
      databaseFor: scheduling.databaseOfOrganization,
      telemetry,
      log,
      metrics,
      queries: analyticsQueries,
      timeoutMs: settings.analyticsTimeoutMs,
      rateLimitCeilingRpm: settings.rateLimitCeilingRpm,
      nowMicros: dependencies.nowMicros ?? endOfThisMillisecond,
      ...(dependencies.pages ? { pages: dependencies.pages } : {}),
      ...(dependencies.retryDelaysMs ? { retryDelaysMs: dependencies.retryDelaysMs } : {}),
    }),
    listActivity(database),
  ];
}

/** The control plane's HTTP server, ready to listen. */
export function createControlPlane(given: ControlPlaneDependencies): HttpServer {
  const dependencies = {
    ...given,
    database: withTransactionTimeout(given.database, TRANSACTION_TIMEOUT_MS),
  };
  const scheduling = createScheduling(dependencies.database, dependencies.permitTimeoutMs);
  const registry = dependencies.metrics ?? new Metrics();
  const metrics = new ApiMetrics(registry);
  const analyticsQueries = createQueryScheduler();
  registry.observe(queueMetrics.depth, (report) => {
    for (const [queue, waiting] of Object.entries(scheduling.waiting())) report(waiting, queue);
    report(analyticsQueries.waiting(), 'analytics');
  });
  const implemented = implementations(dependencies, scheduling, metrics, analyticsQueries);
  const missing = endpoints.filter((endpoint) => !implemented.some((one) => one.endpoint === endpoint));
  if (missing.length > 0) {
    throw new Error(
      `endpoints without an implementation: ${missing.map((endpoint) => endpoint.name).join(', ')}`,
    );
  }
  const client = openOidc({
    log: dependencies.log,
    settings: dependencies.settings,
    monotonicMs: dependencies.monotonicMs ?? systemClock.monotonicMs,
  });
  const { log, settings } = dependencies;
  return createServer({
    implementations: implemented,
    navigations: authNavigations({ databaseFor: scheduling.databaseOfCaller, log, settings, client }),
    findSession: async (accessToken, gone) => {
      using _ = await scheduling.sessionPermit(tenantOfToken(accessToken), gone);
      return await findSession(dependencies.database, accessToken);
    },
    organizationPermit: scheduling.organizationPermit,
    missing: createReadiness(dependencies.database),
    recordsFrom,
    dashboard: dependencies.dashboard,
    log: dependencies.log,
    metrics,
    tracing: dependencies.tracing,
    settings: dependencies.settings,
    certificate: dependencies.certificate,
  });
}
