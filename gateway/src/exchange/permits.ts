import { createFairScheduler, type FairScheduler, type Permit } from '@gatehouse/concurrency';
import { serviceUnavailableBecause } from '../errors/gateway-error.ts';
import { type Exchange, stopped } from './exchange.ts';

// The pool of connections serves in the order of asking, so the requests of one key could keep those of all others
// waiting. Keys are looked up and requests admitted in batches that are fair to each (catalogue/read-keys.ts,
// credit/admissions.ts). Every other statement takes a permit first, and permits are given fairly by organisation. A permit
// is held for one statement, never while a body is read or a provider answers. Where one is free it costs nothing but a
// look.

/** Permits for the work with the database that a request does. */
export interface Permits {
  /** To read what the catalogue says, by organisation. */
  readonly routes: FairScheduler;
}

// Together the connections of the pool, and one that the shippers and the others share.
const ROUTES = { permits: 3, permitsPerTenant: 2, queuePerTenant: 1_000 };

/** `timeoutMs` is how long a request waits for each permit. */
export function createPermits(timeoutMs: number): Permits {
  return {
    routes: createFairScheduler({ ...ROUTES, timeoutMs }),
  };
}

/** Waits for a permit; to be called where none is free. 503 where it does not come, at once where too many wait. */
export async function waitForPermit(
  exchange: Exchange,
  scheduler: FairScheduler,
  tenantId: string,
): Promise<Permit> {
  exchange.throwIfStopped();
  const stop = new AbortController();
  exchange.onStop = (reason) => stop.abort(stopped(reason));
  try {
    return await scheduler.acquire(tenantId, stop.signal);
  } catch (error) {
    if (stop.signal.aborted) throw error;
    throw serviceUnavailableBecause('too many requests of the organisation wait for the database');
  } finally {
    exchange.onStop = undefined;
  }
}
