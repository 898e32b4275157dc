import { LinkedQueue, type QueueEntry } from './linked-queue.ts';

/** An item in a queue, and how to answer it. */
export interface Waiter<Item, Answer> {
  readonly item: Item;
  readonly tenant: Tenant<Item, Answer>;
  readonly isUrgent: boolean;
  readonly sinceMs: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
  /** While it waits: among all, and among those of its tenant. */
  entries?: readonly [QueueEntry<Waiter<Item, Answer>>, QueueEntry<Waiter<Item, Answer>>] | undefined;
}

export interface Tenant<Item, Answer> {
  readonly id: string;
  readonly queue: LinkedQueue<Waiter<Item, Answer>>;
  isInFlight: boolean;
}

/** The queues of a fair batcher: one of each tenant, and all of them by age. */
export class TenantQueues<Item, Answer> {
  /** Tenants that wait or have a batch in flight, from the one that was served the longest ago. */
  readonly #tenants = new Map<string, Tenant<Item, Answer>>();
  /** Everything that waits, from the oldest. */
  readonly #waiting = new LinkedQueue<Waiter<Item, Answer>>();
  #urgent = 0;

  get size(): number {
    return this.#waiting.size;
  }

  /** How many of them cannot wait. */
  get urgent(): number {
    return this.#urgent;
  }

  get waiting(): Iterable<Waiter<Item, Answer>> {
    return this.#waiting;
  }

  get tenantIds(): Iterable<string> {
    return this.#tenants.keys();
  }

  sizeOf(tenantId: string): number {
    return this.#tenants.get(tenantId)?.queue.size ?? 0;
  }

  tenant(id: string): Tenant<Item, Answer> {
    const known = this.#tenants.get(id);
    if (known) return known;
    const tenant = { id, queue: new LinkedQueue<Waiter<Item, Answer>>(), isInFlight: false };
    this.#tenants.set(id, tenant);
    return tenant;
  }

  enter(waiter: Waiter<Item, Answer>): void {
    waiter.entries = [this.#waiting.add(waiter), waiter.tenant.queue.add(waiter)];
    if (waiter.isUrgent) this.#urgent += 1;
  }

  /** True if it was still waiting. */
  leave(waiter: Waiter<Item, Answer>): boolean {
    if (!waiter.entries) return false;
    const [ofAll, ofTenant] = waiter.entries;
    waiter.entries = undefined;
    this.#waiting.remove(ofAll);
    waiter.tenant.queue.remove(ofTenant);
    if (waiter.isUrgent) this.#urgent -= 1;
    this.#forgetIdle(waiter.tenant);
    return true;
  }

  /** Before all that wait. */
  putBack(batch: readonly Waiter<Item, Answer>[]): void {
    const later = [...this.#waiting];
    for (const waiter of later) this.leave(waiter);
    for (const waiter of [...batch, ...later]) {
      this.#tenants.set(waiter.tenant.id, waiter.tenant);
      this.enter(waiter);
    }
  }

  rejectAll(waiters: readonly Waiter<Item, Answer>[], error: unknown): void {
    for (const waiter of waiters) if (this.leave(waiter)) waiter.reject(error);
  }

  /** Tenants that wait and have nothing in flight, at most so many. */
  ready(most: number, isMeant: (tenantId: string) => boolean): Tenant<Item, Answer>[] {
    const found: Tenant<Item, Answer>[] = [];
    for (const tenant of this.#tenants.values()) {
      if (tenant.isInFlight || tenant.queue.size === 0 || !isMeant(tenant.id)) continue;
      found.push(tenant);
      if (found.length === most) break;
    }
    return found;
  }

  /** Takes up to `most` items, one of each tenant in turn. They are in flight until they are returned. */
  take(tenants: readonly Tenant<Item, Answer>[], most: number): Waiter<Item, Answer>[] {
    for (const tenant of tenants) {
      tenant.isInFlight = true;
      this.#tenants.delete(tenant.id);
      this.#tenants.set(tenant.id, tenant);
    }
    const taken: Waiter<Item, Answer>[] = [];
    let turn = tenants.map(({ queue }) => queue[Symbol.iterator]());
    while (turn.length > 0 && taken.length < most) {
      turn = turn.filter((queue) => {
        if (taken.length === most) return false;
        const { value, done } = queue.next();
        if (done) return false;
        this.leave(value);
        taken.push(value);
        return true;
      });
    }
    return taken;
  }

  /** Nothing of these tenants is in flight any more. */
  return(tenants: readonly Tenant<Item, Answer>[]): void {
    for (const tenant of tenants) {
      tenant.isInFlight = false;
      this.#forgetIdle(tenant);
    }
  }

  #forgetIdle(tenant: Tenant<Item, Answer>): void {
    if (tenant.queue.size === 0 && !tenant.isInFlight) this.#tenants.delete(tenant.id);
  }
}
