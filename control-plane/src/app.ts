import { randomBytes } from 'node:crypto';
import { endpoints } from '@gatehouse/contract';
import { createReadiness, type Database, type KeyRing, type TelemetryClient } from '@gatehouse/store';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { listActivity } from './activity/index.ts';
import { analyticsEndpoints, type PageSizes } from './analytics/index.ts';
import { authEndpoints, findSession } from './auth/index.ts';
import { listRoutes } from './catalogue/index.ts';
import type { Implementation } from './http/implement.ts';
import { createServer } from './http/server.ts';
import { createKey, listKeys, openKeyChanges, revokeKey, updateKey } from './keys/index.ts';
import { listMembers, listProjects, renameOrganization } from './organization/index.ts';
import { createScheduling, type Scheduling } from './scheduling.ts';
import type { ControlPlaneSettings } from './settings.ts';
import { vaultEndpoints } from './vault/index.ts';

export interface ControlPlaneParts {
  readonly database: Database;
  readonly telemetry: TelemetryClient;
  /** The master keys that the vault is under. */
  readonly keyRing: KeyRing;
  readonly log: Logger;
  readonly settings: ControlPlaneSettings;
  /** What analytics take for now, in microseconds since the epoch. */
  readonly nowMicros?: () => bigint;
  /** Milliseconds of a clock that only goes forward, by which what was learnt of others is forgotten. */
  readonly monotonicMs?: () => number;
  /** How long a request waits for its turn, with the database (five seconds unless given) or to hash (ten). */
  readonly permitTimeoutMs?: number;
  /** How long answers of analytics are cut; left out, as it pays. */
  readonly pages?: PageSizes;
  /** How long a later page of them waits before it is asked for again; left out, as a restart of the store takes. */
  readonly pausesMs?: readonly number[];
}

// The machine's clock tells milliseconds only; what happened earlier in this one is in the past all the same.
const endOfThisMillisecond = () => BigInt(Date.now()) * 1000n + 999n;

/** Every endpoint of the contract with the code that answers it. */
export function implementations(
  parts: ControlPlaneParts,
  scheduling: Scheduling = createScheduling(parts.database),
): Implementation[] {
  const { database, telemetry, log, settings } = parts;
  const keyChanges = openKeyChanges(scheduling.databaseOfOrganization, parts.permitTimeoutMs);
  return [
    ...authEndpoints({
      databaseFor: scheduling.databaseOfCaller,
      passwordTimeoutMs: parts.permitTimeoutMs,
      log,
      settings,
      monotonicMs: parts.monotonicMs ?? (() => performance.now()),
      nowMs: () => Date.now(),
    }),
    renameOrganization(database),
    listMembers(database),
    listProjects(database),
    listRoutes(database),
    createKey(keyChanges, randomBytes),
    listKeys(database, telemetry, log),
    updateKey(keyChanges, settings.rateLimitCeilingRpm),
    revokeKey(keyChanges),
    ...vaultEndpoints({ database, log, keyRing: parts.keyRing }),
    ...analyticsEndpoints({
      database,
      databaseFor: scheduling.databaseOfOrganization,
      telemetry,
      log,
      timeoutMs: settings.analyticsTimeoutMs,
      nowMicros: parts.nowMicros ?? endOfThisMillisecond,
      ...(parts.pages ? { pages: parts.pages } : {}),
      ...(parts.pausesMs ? { pausesMs: parts.pausesMs } : {}),
    }),
    listActivity(database),
  ];
}

/** The control plane's HTTP server, ready to listen. */
export function createControlPlane(parts: ControlPlaneParts): FastifyInstance {
  const scheduling = createScheduling(parts.database, parts.permitTimeoutMs);
  const answered = implementations(parts, scheduling);
  const unanswered = endpoints.filter((endpoint) => !answered.some((one) => one.endpoint === endpoint));
  if (unanswered.length > 0) {
    throw new Error(
      `nothing answers ${unanswered.map((endpoint) => endpoint.name).join(', ')} of the contract`,
    );
  }
  return createServer({
    implementations: answered,
    findSession: async (accessToken, gone) => {
      using _ = await scheduling.sessionPermit(accessToken, gone);
      return await findSession(parts.database, accessToken);
    },
    organizationPermit: scheduling.organizationPermit,
    missing: createReadiness(parts.database),
    log: parts.log,
    settings: parts.settings,
  });
}
