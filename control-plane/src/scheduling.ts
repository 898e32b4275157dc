import {
  createFairScheduler,
  type FairScheduler,
  type FairSchedulerOptions,
  type Permit,
} from '@gatehouse/concurrency';
import { unavailable } from '@gatehouse/contract';
import { type Database, withPermits } from '@gatehouse/store';

/*
 * The pool has eight connections and grants them first come, first served, so the requests of one caller could block all
 * others. Therefore database work takes a permit first, and permits are scheduled fairly: by access token until the
 * session is known, then by organisation, and for requests without a session by their subject (the account, or the
 * organisation to join). The permits of the three schedulers add up to the connections of the pool, so no scheduler
 * waits for another. An organisation whose requests wait for a database lock holds at most two connections.
 */
const SESSIONS: FairSchedulerOptions = { permits: 2, permitsPerTenant: 1, queuePerTenant: 1_000 };
const ORGANIZATIONS: FairSchedulerOptions = { permits: 4, permitsPerTenant: 2, queuePerTenant: 200 };
const CALLERS: FairSchedulerOptions = { permits: 2, permitsPerTenant: 1, queuePerTenant: 100 };

/** How long a request waits for a permit before it gets a 503. */
const PERMIT_TIMEOUT_MS = 5_000;
const RETRY_AFTER_SECONDS = 1;

/** The database for one tenant: every statement and transaction takes a permit. Aborting `gone` ends the wait for one. */
export type DatabaseFor = (tenantId: string, gone: AbortSignal) => Database;

export interface Scheduling {
  /** A permit to look up a session, with one tenant for each token. */
  sessionPermit(tenantId: string, gone: AbortSignal): Permit | Promise<Permit>;
  /** A permit for a request of the organisation. */
  organizationPermit(organizationId: string, gone: AbortSignal): Permit | Promise<Permit>;
  /** For requests that do not hold a permit throughout. */
  readonly databaseOfOrganization: DatabaseFor;
  /** For requests without a session. */
  readonly databaseOfCaller: DatabaseFor;
  /** How many requests wait for a permit, by queue. */
  waiting(): Readonly<Record<'sessions' | 'organizations' | 'callers', number>>;
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
    sessionPermit: (tenantId, gone) => permit(sessions, tenantId, gone),
    organizationPermit: (organizationId, gone) => permit(organizations, organizationId, gone),
    databaseOfOrganization: databaseBy(organizations),
    databaseOfCaller: databaseBy(callers),
    waiting: () => ({
      sessions: sessions.waiting(),
      organizations: organizations.waiting(),
      callers: callers.waiting(),
    }),
  };
}

function permit(scheduler: FairScheduler, tenantId: string, gone: AbortSignal): Permit | Promise<Permit> {
  return (
    scheduler.tryAcquire(tenantId) ??
    scheduler.acquire(tenantId, gone).catch(() => {
      // Queue full, timeout, or the caller has left and will not read the reply.
      throw unavailable(
        'Too many of your requests are waiting already. Try again in a moment.',
        RETRY_AFTER_SECONDS,
      );
    })
  );
}
