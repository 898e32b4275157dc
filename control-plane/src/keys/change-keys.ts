import { createKeyedMutex, PermitTimeout, QueueFull } from '@gatehouse/concurrency';
import { type OrganizationId, unavailable } from '@gatehouse/contract';
import type { Transaction } from '@gatehouse/store';
import { lockOrganization } from '../organization/index.ts';
import type { DatabaseFor } from '../scheduling.ts';

/*
 * Minting, changing and revoking keys of one organisation run one after the other, on all nodes: each locks the
 * organisation's row first. A request that waits for that lock holds one of the few connections of its process, so a
 * handful of requests of one busy organisation could block everyone else's. Therefore they queue here before they take
 * a connection, and at most one per organisation and process waits in the database.
 */
export interface KeyChanges {
  /**
   * Runs the work in a transaction that overlaps no other change of the organisation's keys. Throws a 503 when the queue
   * is full or the wait takes too long. As in any transaction, the work may run again, so it must do nothing but
   * database work.
   */
  inOrganization<T>(organizationId: OrganizationId, work: (tx: Transaction) => Promise<T>): Promise<T>;
}

/** How long a change waits for earlier changes in this process. */
const TIMEOUT_MS = 5_000;
/** How many changes of one organisation may wait. */
const QUEUE = 200;
// A change takes effect even if its caller has left.
const NEVER = new AbortController().signal;

export function openKeyChanges(databaseFor: DatabaseFor, timeoutMs = TIMEOUT_MS): KeyChanges {
  const changes = createKeyedMutex({ queue: QUEUE, timeoutMs });
  return {
    async inOrganization(organizationId, work) {
      try {
        return await changes.run(organizationId, () =>
          databaseFor(organizationId, NEVER).transaction(async (tx) => {
            await lockOrganization(tx, organizationId);
            return work(tx);
          }),
        );
      } catch (error) {
        if (!(error instanceof QueueFull || error instanceof PermitTimeout)) throw error;
        throw unavailable(
          'Too many changes of this organisation’s keys are waiting. Try again in a moment.',
          1,
        );
      }
    },
  };
}
