import { type FairScheduler, type Permit, PermitTimeout } from '@gatehouse/concurrency';
import type { OrganizationId } from '@gatehouse/contract';
import { DatabaseUnavailable, type Queryable } from '@gatehouse/store';
import { type Admission, type AdmissionDecision, admit, type FinishedHold } from './queries.ts';

// Every request of an organisation changes the same row, its balance, twice: when it is admitted, and when it has
// finished and the surplus of its hold becomes free. Sent one by one, requests that come together wait for that row in
// the database, each with a connection of the pool in its hands, which those of other organisations then do not get. So
// an organisation has one statement under way at a time: what comes meanwhile waits here, and goes together in the next
// one, those that have finished first.
//
// A request is judged by a statement that was sent after the request came, never by an answer that was there before.
// Alone, a request is sent at once.

const MOST_AT_ONCE = 128;
const ALWAYS = new AbortController().signal;

export interface Admissions {
  /** Judges the request and sets what it is granted aside, or changes nothing. Throws DatabaseUnavailable. */
  admit(organizationId: OrganizationId, admission: Admission): Promise<AdmissionDecision>;
  /**
   * Lowers the hold of a request that is recorded to what it cost; once this resolves, the surplus is free. Nothing
   * happens where the hold is gone. Throws DatabaseUnavailable.
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

  /** Takes out the first ones, up to so many of each kind. */
  take(most: number): Batch {
    return { finished: this.finished.splice(0, most), admissions: this.admissions.splice(0, most) };
  }
}

type Batch = Pick<Queue, 'finished' | 'admissions'>;

export function createAdmissions(database: Queryable, permits: FairScheduler): Admissions {
  /** By organisation; there is an entry while a statement is under way. */
  const queues = new Map<string, Queue>();

  const work = async (queue: Queue): Promise<void> => {
    while (!queue.isEmpty) {
      const { organizationId } = queue;
      // Those that come while it waits for the other organisations go along.
      using permit = permits.tryAcquire(organizationId) ?? (await waitForPermit(permits, organizationId));
      if (!permit) {
        // A database that hangs takes the time of one statement after the other: nobody waits for all of them.
        rejectAll(queue.take(Number.POSITIVE_INFINITY), new DatabaseUnavailable('too many wait for it'));
        continue;
      }
      const batch = queue.take(MOST_AT_ONCE);
      await send(database, organizationId, batch).catch((error: unknown) => {
        rejectAll(batch, error);
        // Those behind have waited for the same database; to ask again for them would double their time.
        if (error instanceof DatabaseUnavailable) rejectAll(queue.take(Number.POSITIVE_INFINITY), error);
      });
    }
    queues.delete(queue.organizationId);
  };

  /** Puts something into the organisation's queue, and sees to it that the queue is worked off. */
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

/** Undefined where it does not come in its time. */
function waitForPermit(permits: FairScheduler, organizationId: OrganizationId): Promise<Permit | undefined> {
  return permits.acquire(organizationId, ALWAYS).catch((error: unknown) => {
    if (error instanceof PermitTimeout) return undefined;
    throw error;
  });
}

async function send(database: Queryable, organizationId: OrganizationId, batch: Batch): Promise<void> {
  const { finished, admissions } = batch;
  const ask = (some: Batch) =>
    admit(
      database,
      organizationId,
      some.admissions.map(({ item }) => item),
      some.finished.map(({ item }) => item),
    );
  const isAlone = finished.length + admissions.length === 1;
  const decisions = await ask(batch).catch((error: unknown) => {
    if (isAlone || error instanceof DatabaseUnavailable) throw error;
    return undefined;
  });
  if (decisions) {
    for (const { resolve } of finished) resolve();
    for (const [index, decision] of decisions.entries()) admissions[index]?.resolve(decision);
    return;
  }
  // One of them is what the database cannot take. It took none, so each can be asked for alone.
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
