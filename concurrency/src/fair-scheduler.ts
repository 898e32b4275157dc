import { type Clock, systemClock } from './clock.ts';
import { LinkedQueue, type QueueEntry } from './linked-queue.ts';

/**
 * Permits for something that does little at once, shared fairly among tenants. A tenant has at most a few permits at a
 * time. Where several tenants wait, the next permit goes to one that has the fewest, and among those to the one that
 * has waited longest since it last got or returned one. So two hundred requests of one tenant delay a request of
 * another by no more than the one that is just being worked on.
 */
export interface FairScheduler {
  /** A permit without waiting; undefined where the tenant would have to wait. */
  tryAcquire(tenantId: string): Permit | undefined;
  /**
   * Waits for a permit. Throws `QueueFull` at once where the tenant's queue is full, or later where a tenant with a
   * shorter queue displaces it, `PermitTimeout` after the timeout, and the signal's reason when it aborts first.
   */
  acquire(tenantId: string, signal: AbortSignal): Promise<Permit>;
  /** How many tenants have a permit or wait for one; no others are remembered. */
  tenants(): number;
  /** How many wait for a permit. */
  waiting(): number;
}

/** Disposing returns it, once. */
export type Permit = Disposable;

export interface FairSchedulerOptions {
  /** Permits of all tenants together. */
  readonly permits: number;
  readonly permitsPerTenant: number;
  /** How many of one tenant may wait. */
  readonly queuePerTenant: number;
  /** How many of all tenants may wait. At this limit a shorter queue displaces the last of the longest. */
  readonly queueTotal?: number;
  /** How long each waits for a permit; until it comes unless given. */
  readonly timeoutMs?: number;
  readonly clock?: Pick<Clock, 'after'>;
}

/** The queue is full. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull';
}

/** No permit became free in time. */
export class PermitTimeout extends Error {
  override readonly name = 'PermitTimeout';
}

interface Waiter {
  entry: QueueEntry<Waiter> | undefined;
  readonly admit: () => void;
  readonly reject: (reason: unknown) => void;
}

interface Tenant {
  readonly id: string;
  running: number;
  readonly queue: LinkedQueue<Waiter>;
}

export function createFairScheduler(options: FairSchedulerOptions): FairScheduler {
  const { permits, permitsPerTenant, queuePerTenant, timeoutMs, clock = systemClock } = options;
  const queueTotal = options.queueTotal ?? Number.POSITIVE_INFINITY;
  const tenants = new Map<string, Tenant>();
  // Those that wait and may have a further permit, by how many they have. To find the next takes as many looks as a
  // tenant may have permits, however many tenants wait.
  const ready = Array.from({ length: permitsPerTenant }, () => new Set<Tenant>());
  let running = 0;
  let waiting = 0;

  const setReady = (tenant: Tenant): void => {
    if (tenant.queue.size > 0) ready[tenant.running]?.add(tenant);
  };

  const changeRunning = (tenant: Tenant, change: 1 | -1): void => {
    ready[tenant.running]?.delete(tenant);
    running += change;
    tenant.running += change;
    setReady(tenant);
  };

  const leaveQueue = (tenant: Tenant, waiter: Waiter): void => {
    if (waiter.entry) tenant.queue.remove(waiter.entry);
    waiting -= 1;
    if (tenant.queue.size === 0) ready[tenant.running]?.delete(tenant);
    forgetIdle(tenant);
  };

  const forgetIdle = (tenant: Tenant): void => {
    if (tenant.running === 0 && tenant.queue.size === 0) tenants.delete(tenant.id);
  };

  const admitNext = (): void => {
    if (running >= permits) return;
    for (const group of ready) {
      for (const tenant of group) {
        const waiter = tenant.queue.first;
        if (!waiter) continue;
        // Running before it leaves its queue, or it would be forgotten in between.
        changeRunning(tenant, 1);
        leaveQueue(tenant, waiter);
        waiter.admit();
        return;
      }
    }
  };

  const permitOf = (tenant: Tenant): Permit => {
    let isReturned = false;
    return {
      [Symbol.dispose]() {
        if (isReturned) return;
        isReturned = true;
        changeRunning(tenant, -1);
        forgetIdle(tenant);
        admitNext();
      },
    };
  };

  /** Removes the last waiter of the longest queue, if that is longer than the tenant's would become. */
  const displaceFor = (tenant: Tenant): boolean => {
    const longest = tenants
      .values()
      .reduce((most, one) => (one.queue.size > most.queue.size ? one : most), tenant);
    const { last } = longest.queue;
    if (!last || longest.queue.size <= tenant.queue.size + 1) return false;
    leaveQueue(longest, last);
    last.reject(new QueueFull('displaced by a tenant with a shorter queue'));
    return true;
  };

  const wait = (tenant: Tenant, signal: AbortSignal): Promise<void> => {
    if (tenant.queue.size >= queuePerTenant || (waiting >= queueTotal && !displaceFor(tenant))) {
      forgetIdle(tenant);
      throw new QueueFull(`${waiting} are queued, ${tenant.queue.size} of them by the tenant`);
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stopWaiting = () => {
      signal.removeEventListener('abort', leave);
      cancelTimeout?.();
    };
    const leave = () => {
      leaveQueue(tenant, waiter);
      waiter.reject(signal.reason);
    };
    const waiter: Waiter = {
      entry: undefined,
      admit() {
        stopWaiting();
        resolve();
      },
      reject(reason) {
        stopWaiting();
        reject(reason);
      },
    };
    const timeOut = () => {
      leaveQueue(tenant, waiter);
      waiter.reject(new PermitTimeout(`no permit within ${timeoutMs} ms`));
    };
    const cancelTimeout = timeoutMs === undefined ? undefined : clock.after(timeoutMs, timeOut);
    signal.addEventListener('abort', leave, { once: true });
    waiter.entry = tenant.queue.add(waiter);
    waiting += 1;
    setReady(tenant);
    return promise;
  };

  const find = (tenantId: string): Tenant => {
    const known = tenants.get(tenantId);
    if (known) return known;
    const tenant: Tenant = { id: tenantId, running: 0, queue: new LinkedQueue() };
    tenants.set(tenantId, tenant);
    return tenant;
  };

  const tryAcquire = (tenantId: string): Permit | undefined => {
    // A request waits only because one of the two limits is reached, so this one overtakes none.
    if (running >= permits) return undefined;
    const tenant = find(tenantId);
    if (tenant.running >= permitsPerTenant) return undefined;
    changeRunning(tenant, 1);
    return permitOf(tenant);
  };

  return {
    tryAcquire,
    async acquire(tenantId, signal) {
      signal.throwIfAborted();
      const free = tryAcquire(tenantId);
      if (free) return free;
      const tenant = find(tenantId);
      await wait(tenant, signal);
      return permitOf(tenant);
    },
    tenants: () => tenants.size,
    waiting: () => waiting,
  };
}
