import type { Database, Transaction } from '@gatehouse/store';
import type { FinishedRequest } from './finished-request.ts';
import {
  type AccountChange,
  beginSettling,
  deleteOverdueHolds,
  insertSettlements,
  listClosed,
  listOverdueFinalHolds,
  updateBalances,
  updateKeyAccounts,
} from './queries.ts';

/** What the ledger needs of a finished request. */
export interface Settlement {
  readonly requestId: string;
  readonly organizationId: string;
  readonly keyId: string;
  readonly costMicroPkr: bigint;
}

/** The settlement of a request, or undefined where it cost nothing and held nothing. */
export function settlementOf(request: FinishedRequest): Settlement | undefined {
  const { requestId, organizationId, keyId, costMicroPkr, isHeld } = request;
  if (keyId === null) return undefined;
  return isHeld || costMicroPkr > 0n ? { requestId, organizationId, keyId, costMicroPkr } : undefined;
}

/**
 * Counts the cost of each request on its key and balance, and releases its hold, in one transaction. Each request
 * counts once whatever is repeated, and whether or not its hold is still there.
 *
 * Returns those that were not counted because the ledger has closed the week of their ids (0009-ledger.sql): months
 * later it is no longer known whether they were counted before. Their holds are released like the others.
 */
export function settle(database: Database, settlements: readonly Settlement[]): Promise<Settlement[]> {
  return database.transaction(async (tx) => {
    await tx.run(beginSettling);
    const ids = settlements.map(({ requestId }) => requestId);
    const closed = new Set((await tx.many(listClosed, [ids])).map(({ requestId }) => requestId));
    const open = settlements.filter(({ requestId }) => !closed.has(requestId.toLowerCase()));
    const changes = await tx.many(insertSettlements, [
      open.map(({ requestId }) => requestId),
      open.map(({ organizationId }) => organizationId),
      open.map(({ keyId }) => keyId),
      open.map(({ costMicroPkr }) => costMicroPkr),
      ids,
    ]);
    await changeAccounts(tx, changes);
    if (closed.size === 0) return [];
    return settlements.filter(
      ({ requestId, costMicroPkr }) => costMicroPkr > 0n && closed.has(requestId.toLowerCase()),
    );
  });
}

export interface ReleasedHolds {
  readonly holds: number;
  readonly amountMicroPkr: bigint;
}

/** Releases up to `limit` holds that are past their deadline, of requests that are not known to have finished. */
export function releaseOverdueHolds(database: Database, limit: number): Promise<ReleasedHolds> {
  return database.transaction(async (tx) => {
    const changes = await tx.many(deleteOverdueHolds, [limit]);
    await changeAccounts(tx, changes);
    return {
      holds: changes.reduce((sum, change) => sum + Number(change.holds), 0),
      amountMicroPkr: changes.reduce((sum, change) => sum + change.releasedMicroPkr, 0n),
    };
  });
}

/**
 * Settles up to `limit` finished requests whose holds are past their deadline: their node has not done so, and what they
 * cost must not become free meanwhile. Their records, when they come, count no more. Returns all of them, and
 * those of a closed week, whose holds are released only.
 */
export async function settleOverdueHolds(
  database: Database,
  limit: number,
): Promise<{ readonly overdue: readonly Settlement[]; readonly late: readonly Settlement[] }> {
  const overdue = await database.many(listOverdueFinalHolds, [limit]);
  const late = overdue.length === 0 ? [] : await settle(database, overdue);
  return { overdue, late };
}

async function changeAccounts(tx: Transaction, changes: readonly AccountChange[]): Promise<void> {
  if (changes.length === 0) return;
  const spent = changes.map(({ spentMicroPkr }) => spentMicroPkr);
  const released = changes.map(({ releasedMicroPkr }) => releasedMicroPkr);
  const final = changes.map(({ finalMicroPkr }) => finalMicroPkr);
  await tx.run(updateKeyAccounts, [changes.map(({ keyId }) => keyId), spent, released, final]);
  await tx.run(updateBalances, [changes.map(({ organizationId }) => organizationId), spent, released, final]);
}
