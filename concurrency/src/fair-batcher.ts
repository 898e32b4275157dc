import { type Clock, systemClock } from './clock.ts';
import { QueueFull } from './fair-scheduler.ts';
import { type Tenant, TenantQueues, type Waiter } from './tenant-queues.ts';

// Work that is cheaper together than one by one, such as statements that look up rows: what arrives while a batch is in
// flight goes together in the next one. The first item of an idle batcher waits only for the end of the current turn of
// the event loop, so that everything that this turn brings goes with it.
//
// A batch takes one item of each tenant in turn, so a tenant with a thousand items delays the others by no more than the
// one batch that is in flight. A tenant has one batch in flight at a time, so its items are answered in their order.
//
// A batch that fails as a whole, for instance because one of its rows is locked, is divided by tenant, and each of these
// tenants then goes alone for a while, in batches of its own beside the shared ones. So what one tenant blocks delays the
// others once, by the time limit that `send` sets for a shared batch.

export interface FairBatcher<Item, Answer> {
  /** Adds an item to the tenant's queue. */
  submit(tenantId: string, item: Item, urgency?: Urgency): Queued<Answer>;
  /** Sends what can wait, and resolves once no item waits and no batch is in flight. */
  drain(): Promise<void>;
  /** How many tenants wait, have a batch in flight or go alone; no others are remembered. */
  tenants(): number;
  /** How many items wait to be sent. */
  waiting(): number;
}

/** An item that can wait goes with the next batch, or after `delayMs`. A full queue does not refuse it. */
export type Urgency = 'now' | 'can_wait';

export interface Queued<Answer> {
  /**
   * Rejects with `QueueFull` where the queue is full, `QueueTimeout` after the timeout in the queue, the reason of a
   * cancellation, or the error of its batch.
   */
  readonly answer: Promise<Answer>;
  /** Takes the item out of the queue. It has no effect once the item was sent. */
  cancel(reason: unknown): void;
}

export interface FairBatcherOptions<Item, Answer> {
  /**
   * The answers, in the order of the items. A shared batch may have items of several tenants; it should give up soon
   * where it is blocked. A batch that fails must have had no effect, unless `isUnavailable`.
   */
  readonly send: (items: readonly Item[], isShared: boolean) => Promise<readonly Answer[]>;
  /**
   * True if the error means that sending again is no use, or that the batch may have had an effect. Then everything that waits is rejected,
   * or what the tenant has waiting where it was alone: another attempt would double its wait.
   */
  readonly isUnavailable: (error: unknown, isShared: boolean) => boolean;
  readonly mostPerBatch: number;
  /** Shared batches in flight, and beside them those of tenants that go alone. */
  readonly batches: number;
  readonly batchesAlone: number;
  /** How long a shared batch must have been in flight before another is sent beside it: larger batches cost less. */
  readonly spacingMs?: number;
  readonly queuePerTenant: number;
  /** How many of all tenants may wait. */
  readonly queueTotal: number;
  /** How long an item waits to be sent. */
  readonly timeoutMs: number;
  /** How long an item that can wait does so. */
  readonly delayMs?: number;
  /** How long a tenant goes alone after a batch of its own that failed or took longer than `quickMs`. */
  readonly aloneMs?: number;
  readonly quickMs?: number;
  readonly clock?: Pick<Clock, 'after' | 'monotonicMs'>;
}

/** An item was not sent in time. */
export class QueueTimeout extends Error {
  override readonly name = 'QueueTimeout';
}

const DEFAULTS = { spacingMs: 0, delayMs: 5, aloneMs: 1_000, quickMs: 50 };

// Each costs a failed batch. Those that are forgotten go with the others again.
const MAX_MARKS = 1_000;

export function createFairBatcher<Item, Answer>(
  options: FairBatcherOptions<Item, Answer>,
): FairBatcher<Item, Answer> {
  const { send, isUnavailable, mostPerBatch, clock = systemClock, timeoutMs } = options;
  const { spacingMs, delayMs, aloneMs, quickMs } = { ...DEFAULTS, ...options };
  const queues = new TenantQueues<Item, Answer>();
  /** Entries that go alone, and until when. */
  const marks = new Map<string, number>();
  let shared = 0;
  let alone = 0;
  let isScheduled = false;
  /** True if what can wait has waited long enough, or the batcher is draining. */
  let isDue = false;
  let hasDelay = false;
  let hasTimeout = false;
  let hasSpacing = false;
  let lastSharedAtMs = Number.NEGATIVE_INFINITY;
  let drained: PromiseWithResolvers<void> | undefined;

  const isMarked = (id: string): boolean => {
    const untilMs = marks.get(id);
    if (untilMs === undefined) return false;
    if (clock.monotonicMs() < untilMs) return true;
    marks.delete(id);
    return false;
  };

  const mark = (id: string): void => {
    marks.delete(id);
    marks.set(id, clock.monotonicMs() + aloneMs);
    const [oldest] = marks.keys();
    if (marks.size > MAX_MARKS && oldest !== undefined) marks.delete(oldest);
  };

  /** Sends a batch, if there is one to send. */
  const sendNext = (isShared: boolean): boolean => {
    const tenants = isShared
      ? queues.ready(mostPerBatch, (id) => marks.size === 0 || !isMarked(id))
      : queues.ready(1, isMarked);
    if (tenants.length === 0) return false;
    const change = (by: 1 | -1) => {
      if (isShared) shared += by;
      else alone += by;
    };
    change(1);
    if (isShared) lastSharedAtMs = clock.monotonicMs();
    void work(tenants, queues.take(tenants, mostPerBatch), isShared).then(() => {
      queues.return(tenants);
      change(-1);
      pump();
    });
    return true;
  };

  const mayShare = (): boolean => {
    if (shared === 0) return true;
    if (shared === options.batches) return false;
    const leftMs = lastSharedAtMs + spacingMs - clock.monotonicMs();
    if (leftMs <= 0) return true;
    if (!hasSpacing) {
      hasSpacing = true;
      clock.after(leftMs, () => {
        hasSpacing = false;
        pump();
      });
    }
    return false;
  };

  const pump = (): void => {
    isScheduled = false;
    while (queues.urgent > 0 || (isDue && queues.size > 0)) {
      const isSent =
        (alone < options.batchesAlone && marks.size > 0 && sendNext(false)) || (mayShare() && sendNext(true));
      if (!isSent) break;
    }
    if (queues.size === 0) {
      isDue = drained !== undefined;
      if (shared + alone === 0) drained?.resolve();
    } else if (queues.urgent === 0 && !isDue && !hasDelay) {
      hasDelay = true;
      clock.after(delayMs, () => {
        hasDelay = false;
        isDue = queues.size > 0;
        pump();
      });
    }
  };

  /** Sends the batch and answers its items, or puts them back to be sent by tenant. Never rejects. */
  const work = async (
    tenants: readonly Tenant<Item, Answer>[],
    batch: readonly Waiter<Item, Answer>[],
    isShared: boolean,
  ): Promise<void> => {
    const sentAtMs = clock.monotonicMs();
    try {
      answerAll(batch, await sendItems(batch, isShared));
      if (isShared) return;
      const isSlow = clock.monotonicMs() - sentAtMs > quickMs;
      for (const { id } of tenants) isSlow ? mark(id) : marks.delete(id);
    } catch (error) {
      const isOver = isUnavailable(error, isShared);
      if (isShared !== isOver) for (const { id } of tenants) mark(id);
      if (isOver) {
        for (const { reject } of batch) reject(error);
        queues.rejectAll(isShared ? [...queues.waiting] : tenants.flatMap(({ queue }) => [...queue]), error);
      } else if (isShared) {
        queues.putBack(batch);
        // They were on their way: what can wait does not wait again.
        isDue = true;
      } else await sendEach(batch, error);
    }
  };

  const sendItems = (batch: readonly Waiter<Item, Answer>[], isShared: boolean) =>
    send(
      batch.map(({ item }) => item),
      isShared,
    );

  /** One of the items was rejected, and with it the batch. */
  const sendEach = async (batch: readonly Waiter<Item, Answer>[], error: unknown): Promise<void> => {
    if (batch.length === 1) return batch[0]?.reject(error);
    for (const waiter of batch) {
      await sendItems([waiter], false).then((answers) => answerAll([waiter], answers), waiter.reject);
    }
  };

  /** Arms one timer for the item that waits longest. */
  const watchTimeout = (): void => {
    const [oldest] = queues.waiting;
    if (hasTimeout || !oldest) return;
    hasTimeout = true;
    clock.after(Math.max(1, oldest.sinceMs + timeoutMs - clock.monotonicMs()), () => {
      hasTimeout = false;
      const nowMs = clock.monotonicMs();
      const late: Waiter<Item, Answer>[] = [];
      for (const waiter of queues.waiting) {
        if (waiter.sinceMs + timeoutMs > nowMs) break;
        late.push(waiter);
      }
      queues.rejectAll(late, new QueueTimeout(`not sent within ${timeoutMs} ms`));
      watchTimeout();
    });
  };

  return {
    submit(tenantId, item, urgency = 'now') {
      const isUrgent = urgency === 'now';
      const { promise, resolve, reject } = Promise.withResolvers<Answer>();
      const { size } = queues;
      const sizeOfTenant = queues.sizeOf(tenantId);
      if (isUrgent && (size >= options.queueTotal || sizeOfTenant >= options.queuePerTenant)) {
        reject(new QueueFull(`${size} are queued, ${sizeOfTenant} of them by the tenant`));
        return { answer: promise, cancel() {} };
      }
      const tenant = queues.tenant(tenantId);
      const waiter = { item, tenant, isUrgent, sinceMs: clock.monotonicMs(), resolve, reject };
      queues.enter(waiter);
      if (!hasTimeout) watchTimeout();
      if (!isScheduled) {
        isScheduled = true;
        setImmediate(pump);
      }
      return {
        answer: promise,
        cancel(reason) {
          if (queues.leave(waiter)) reject(reason);
        },
      };
    },
    async drain() {
      drained ??= Promise.withResolvers();
      isDue = true;
      pump();
      await drained.promise;
      drained = undefined;
    },
    waiting: () => queues.size,
    tenants: () => new Set([...queues.tenantIds, ...marks.keys()]).size,
  };
}

function answerAll<Answer>(
  batch: readonly Pick<Waiter<unknown, Answer>, 'resolve' | 'reject'>[],
  answers: readonly Answer[],
): void {
  for (const [index, { resolve, reject }] of batch.entries()) {
    if (index < answers.length) resolve(answers[index] as Answer);
    else reject(new Error('a batch was answered in part'));
  }
}
