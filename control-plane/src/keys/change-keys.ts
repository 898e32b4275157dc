import { createFairScheduler } from '@gatehouse/concurrency';
import { type OrganizationId, unavailable } from '@gatehouse/contract';
import type { Transaction } from '@gatehouse/store';
import type { DatabaseFor } from '../scheduling.ts';
import * as queries from './queries.ts';

/*
 * Minting, changing and revoking keys of one organisation happen one after the other, whichever process they come to:
 * each locks the organisation's row first. Whoever waits for that lock holds a connection, and a process has few of
 * them, so eight requests for one busy organisation could keep every other one waiting for a connection. Therefore the
 * requests of one process line up here before they take one, and at most one of them for each organisation waits in
 * the database.
 */
export interface KeyChanges {
  /**
   * Runs the work in a transaction that no other change of the organisation's keys overlaps. Throws a 503 when its
   * turn does not come. As in any transaction, the work may run again and must do nothing but database work.
   */
  inOrganization<T>(organizationId: OrganizationId, work: (tx: Transaction) => Promise<T>): Promise<T>;
}

/** How long a change waits for those before it in this process. */
const TIMEOUT_MS = 5_000;
/** How many of an organisation wait. */
const WAITING = 200;
// A change whose caller left takes effect all the same, as it always may.
const ALWAYS = new AbortController().signal;

export function openKeyChanges(databaseFor: DatabaseFor, timeoutMs = TIMEOUT_MS): KeyChanges {
  const turns = createFairScheduler({
    permits: Number.POSITIVE_INFINITY,
    permitsPerTenant: 1,
    queuePerTenant: WAITING,
    timeoutMs,
  });
  return {
    async inOrganization(organizationId, work) {
      using _ = await turns.acquire(organizationId, ALWAYS).catch(() => {
        throw unavailable(
          'Too many changes of this organisation’s keys are waiting. Try again in a moment.',
          1,
        );
      });
      return await databaseFor(organizationId, ALWAYS).transaction(async (tx) => {
        await queries.lockOrganization(tx, organizationId);
        return work(tx);
      });
    },
  };
}
