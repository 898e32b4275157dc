import type { FairScheduler } from '@gatehouse/concurrency';
import { DatabaseUnavailable, type Queryable } from '@gatehouse/store';
import { type Admission, admit, admitMany, type Ruling } from './queries.ts';
import { admitByok } from './vault/queries.ts';

// Every request of an organisation changes the same row, its balance. Sent one by one, requests that come together
// wait for that row in the database, each with a connection of the pool in its hands, which those of other
// organisations then do not get. So an organisation has one statement under way at a time: what comes meanwhile
// waits here, and goes together in the next one, where each is judged by itself.
//
// A request is judged by a statement that was sent after the request came, never by an answer that was there before.
// Alone, a request is sent at once and as it is.

const MOST_AT_ONCE = 128;
const ALWAYS = new AbortController().signal;

export interface Admissions {
  /** Judges the request and sets its amount aside, or changes nothing. Throws DatabaseUnavailable. */
  admit(organizationId: string, admission: Admission): Promise<Ruling>;
}

interface Waiting {
  readonly admission: Admission;
  readonly resolve: (ruling: Ruling) => void;
  readonly reject: (error: unknown) => void;
}

export function createAdmissions(database: Queryable, permits: FairScheduler): Admissions {
  /** Those that wait, by organisation; there is an entry while a statement is under way. */
  const queues = new Map<string, Waiting[]>();

  const work = async (organizationId: string, queue: Waiting[]): Promise<void> => {
    while (queue.length > 0) {
      // Those that come while it waits for the other organisations go along.
      using _ = permits.tryAcquire(organizationId) ?? (await permits.acquire(organizationId, ALWAYS));
      const batch = queue.splice(0, MOST_AT_ONCE);
      await admitBatch(database, batch).catch((error: unknown) => {
        for (const { reject } of batch) reject(error);
        // Those behind have waited for the same database; to ask again for them would double their time.
        if (error instanceof DatabaseUnavailable) for (const { reject } of queue.splice(0)) reject(error);
      });
    }
    queues.delete(organizationId);
  };

  return {
    admit(organizationId, admission) {
      const { promise, resolve, reject } = Promise.withResolvers<Ruling>();
      const waiting = { admission, resolve, reject };
      const queue = queues.get(organizationId);
      if (queue) {
        queue.push(waiting);
      } else {
        const queue = [waiting];
        queues.set(organizationId, queue);
        void work(organizationId, queue);
      }
      return promise;
    },
  };
}

async function admitBatch(database: Queryable, batch: readonly Waiting[]): Promise<void> {
  const [first] = batch;
  if (first && batch.length === 1) {
    first.resolve(await admitAlone(database, first.admission));
    return;
  }
  const rulings = await admitMany(
    database,
    batch.map(({ admission }) => admission),
  ).catch((error: unknown) => {
    if (error instanceof DatabaseUnavailable) throw error;
    return undefined;
  });
  if (rulings) {
    for (const [index, ruling] of rulings.entries()) batch[index]?.resolve(ruling);
    return;
  }
  // One of them is what the database cannot take. It took none, so each can be asked for alone.
  for (const { admission, resolve, reject } of batch)
    await admitAlone(database, admission).then(resolve, reject);
}

function admitAlone(database: Queryable, admission: Admission): Promise<Ruling> {
  return (admission.isByok ? admitByok : admit)(database, admission);
}
