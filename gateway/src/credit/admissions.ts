import { type FairScheduler, type Permit, PermitTimeout } from '@gatehouse/concurrency';
import type { OrganizationId } from '@gatehouse/contract';
import { DatabaseUnavailable, type Queryable } from '@gatehouse/store';
import { type Admission, type AdmissionDecision, admit, type FinishedHold } from './queries.ts';

// Every request of an organisation updates the same row, the organisation's balance, twice: when it is admitted, and when
// it has finished and the surplus of its hold is released. Sent one by one, concurrent requests would wait for that row in
// the database, each occupying a pool connection that other organisations need. So an organisation has one statement in
// flight at a time. Requests that arrive meanwhile wait here and share the next statement, finished ones first.
//
// A decision always comes from a statement that was sent after the request arrived, never from an earlier answer. A single
// request is sent at once.

const MOST_AT_ONCE = 128;
const ALWAYS = new AbortController().signal;

export interface Admissions {
  /** Decides on the request and holds the granted amount, or changes nothing. Throws DatabaseUnavailable. */
  admit(organizationId: OrganizationId, admission: Admission): Promise<AdmissionDecision>;
  /**
   * Lowers the hold of a recorded request to its cost; when this resolves, the surplus is released. A hold that no longer
   * exists is ignored. Throws DatabaseUnavailable.
   */
  finish(organizationId: OrganizationId, finished: FinishedHold): Promise<void>;
}

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

class Queue {
  readonly organizationId: OrganizationId;
  readonly finished: Waiting<FinishedHold, void>[] = [];
  readonly admissions: Waiting<Admission, AdmissionDecision>[] = [];

  constructor(organizationId: OrganizationId) {
    this.organizationId = organizationId;
  }

  get isEmpty(): boolean {
    return this.finished.length + this.admissions.length === 0;
  }

  /** Removes and returns the first items, up to `most` of each kind. */
  take(most: number): Batch {
    return { finished: this.finished.splice(0, most), admissions: this.admissions.splice(0, most) };
  }
}

type Batch = Pick<Queue, 'finished' | 'admissions'>;

export function createAdmissions(database: Queryable, permits: FairScheduler): Admissions {
  /** By organisation. An entry exists while a statement is in flight. */
  const queues = new Map<string, Queue>();

  const work = async (queue: Queue): Promise<void> => {
    while (!queue.isEmpty) {
      const { organizationId } = queue;
      // Items that arrive during the wait for a permit join the batch.
      using permit = permits.tryAcquire(organizationId) ?? (await waitForPermit(permits, organizationId));
      if (!permit) {
        // When the database hangs, each statement takes its full timeout. The queue does not wait for several of those.
        rejectAll(queue.take(Number.POSITIVE_INFINITY), new DatabaseUnavailable('no permit in time'));
        continue;
      }
      const batch = queue.take(MOST_AT_ONCE);
      await send(database, organizationId, batch).catch((error: unknown) => {
        rejectAll(batch, error);
        // The rest of the queue waited for the same database. Another attempt would double their wait.
        if (error instanceof DatabaseUnavailable) rejectAll(queue.take(Number.POSITIVE_INFINITY), error);
      });
    }
    queues.delete(queue.organizationId);
  };

  /** Adds to the organisation's queue, and starts working through it unless that is in progress. */
  const enqueue = (organizationId: OrganizationId, add: (queue: Queue) => void): void => {
    const busy = queues.get(organizationId);
    const queue = busy ?? new Queue(organizationId);
    add(queue);
    if (busy) return;
    queues.set(organizationId, queue);
    void work(queue);
  };

  return {
    admit(organizationId, item) {
      const { promise, ...settle } = Promise.withResolvers<AdmissionDecision>();
      enqueue(organizationId, ({ admissions }) => admissions.push({ item, ...settle }));
      return promise;
    },
    finish(organizationId, item) {
      const { promise, ...settle } = Promise.withResolvers<void>();
      enqueue(organizationId, ({ finished }) => finished.push({ item, ...settle }));
      return promise;
    },
  };
}

/** Undefined after the permit timeout. */
function waitForPermit(permits: FairScheduler, organizationId: OrganizationId): Promise<Permit | undefined> {
  return permits.acquire(organizationId, ALWAYS).catch((error: unknown) => {
    if (error instanceof PermitTimeout) return undefined;
    throw error;
  });
}

async function send(database: Queryable, organizationId: OrganizationId, batch: Batch): Promise<void> {
  const { finished, admissions } = batch;
  const admitBatch = (some: Batch) =>
    admit(
      database,
      organizationId,
      some.admissions.map(({ item }) => item),
      some.finished.map(({ item }) => item),
    );
  const isAlone = finished.length + admissions.length === 1;
  const decisions = await admitBatch(batch).catch((error: unknown) => {
    if (isAlone || error instanceof DatabaseUnavailable) throw error;
    return undefined;
  });
  if (decisions) {
    for (const { resolve } of finished) resolve();
    for (const [index, decision] of decisions.entries()) admissions[index]?.resolve(decision);
    return;
  }
  // The database rejected one item and therefore rolled back the whole batch, so each item is sent alone.
  const alone = [
    ...finished.map((one) => ({ finished: [one], admissions: [] })),
    ...admissions.map((one) => ({ finished: [], admissions: [one] })),
  ];
  for (const one of alone) {
    await send(database, organizationId, one).catch((error: unknown) => rejectAll(one, error));
  }
}

function rejectAll({ finished, admissions }: Batch, error: unknown): void {
  for (const { reject } of [...finished, ...admissions]) reject(error);
}
