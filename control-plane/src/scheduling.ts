import {
  createFairScheduler,
  type FairScheduler,
  type FairSchedulerOptions,
  type Permit,
} from '@gatehouse/concurrency';
import { unavailable } from '@gatehouse/contract';
import { type Database, withPermits } from '@gatehouse/store';

/*
 * The pool has eight connections and gives them out in the order of asking, so the requests of one caller could keep all
 * others waiting. Therefore work with the database takes a permit first, and permits are given fairly: before
 * the session is known by its access token, then by organisation, and where there is no session by what the request is
 * about (the account, the organisation to join). The permits of all three together are the connections of the pool, so
 * none of the three waits for another. An organisation whose requests wait for a lock in the database holds two
 * connections and no more.
 */
const SESSIONS: FairSchedulerOptions = { permits: 2, permitsPerTenant: 1, queuePerTenant: 1_000 };
const ORGANIZATIONS: FairSchedulerOptions = { permits: 4, permitsPerTenant: 2, queuePerTenant: 200 };
const CALLERS: FairSchedulerOptions = { permits: 2, permitsPerTenant: 1, queuePerTenant: 100 };

/** A request that has waited so long for a permit is told to come back. */
const PERMIT_TIMEOUT_MS = 5_000;
const COME_BACK_SECONDS = 1;

/** The database for one tenant: every statement and every transaction takes a permit. `gone` ends the waiting. */
export type DatabaseFor = (tenantId: string, gone: AbortSignal) => Database;

export interface Scheduling {
  /** A permit to look up a session by this token. */
  sessionPermit(accessToken: string, gone: AbortSignal): Permit | Promise<Permit>;
  /** A permit for a request of the organisation. */
  organizationPermit(organizationId: string, gone: AbortSignal): Permit | Promise<Permit>;
  /** For requests that do not hold a permit from beginning to end. */
  readonly databaseOfOrganization: DatabaseFor;
  /** For requests without a session. */
  readonly databaseOfCaller: DatabaseFor;
}

export function createScheduling(database: Database, timeoutMs = PERMIT_TIMEOUT_MS): Scheduling {
  const sessions = createFairScheduler({ ...SESSIONS, timeoutMs });
  const organizations = createFairScheduler({ ...ORGANIZATIONS, timeoutMs });
  const callers = createFairScheduler({ ...CALLERS, timeoutMs });
  const databaseBy =
    (scheduler: FairScheduler): DatabaseFor =>
    (tenantId, gone) =>
      withPermits(database, () => permit(scheduler, tenantId, gone));
  return {
    sessionPermit: (accessToken, gone) => permit(sessions, accessToken, gone),
    organizationPermit: (organizationId, gone) => permit(organizations, organizationId, gone),
    databaseOfOrganization: databaseBy(organizations),
    databaseOfCaller: databaseBy(callers),
  };
}

function permit(scheduler: FairScheduler, tenantId: string, gone: AbortSignal): Permit | Promise<Permit> {
  return (
    scheduler.tryAcquire(tenantId) ??
    scheduler.acquire(tenantId, gone).catch(() => {
      // The queue is full, or the permit did not come in time. Who has left gets the answer too, unread.
      throw unavailable(
        'Too many of your requests are waiting already. Try again in a moment.',
        COME_BACK_SECONDS,
      );
    })
  );
}
