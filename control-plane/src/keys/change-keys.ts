import { unavailable } from '@gatehouse/contract';
import type { Database, Transaction } from '@gatehouse/store';
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
  inOrganization<T>(organizationId: string, work: (tx: Transaction) => Promise<T>): Promise<T>;
}

/** How long a change waits for those before it in this process. */
const PATIENCE_MS = 5_000;

export function openKeyChanges(database: Database, patienceMs = PATIENCE_MS): KeyChanges {
  /** The end of each organisation's line: resolves once everyone in it is done. */
  const lines = new Map<string, Promise<void>>();
  return {
    async inOrganization(organizationId, work) {
      const before = lines.get(organizationId);
      const { promise: done, resolve: leave } = Promise.withResolvers<void>();
      const end = before !== undefined ? before.then(() => done) : done;
      lines.set(organizationId, end);
      void end.then(() => {
        if (lines.get(organizationId) === end) lines.delete(organizationId);
      });
      try {
        if (before !== undefined) await within(patienceMs, before);
        return await database.transaction(async (tx) => {
          await queries.lockOrganization(tx, organizationId);
          return work(tx);
        });
      } finally {
        leave();
      }
    },
  };
}

async function within(patienceMs: number, turn: Promise<void>): Promise<void> {
  const { promise: tooLong, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () =>
      reject(
        unavailable('Too many changes of this organisation’s keys are waiting. Try again in a moment.', 1),
      ),
    patienceMs,
  );
  await Promise.race([turn, tooLong]).finally(() => clearTimeout(timer));
}
