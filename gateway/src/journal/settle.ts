import type { KeyId, OrganizationId, RequestId } from '@gatehouse/contract';
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
  readonly requestId: RequestId;
  readonly organizationId: OrganizationId;
  readonly keyId: KeyId;
  readonly costMicroPkr: bigint;
}

/** The settlement of a request, or undefined where it cost nothing and held nothing. */
export function settlementOf(request: FinishedRequest): Settlement | undefined {
  const { requestId, organizationId, keyId, costMicroPkr, isHeld } = request;
  if (keyId === null) return undefined;
  if (!isHeld && costMicroPkr === 0n) return undefined;
  // The record was written with the ids of a request that was admitted, or of a key that was found.
  return {
    requestId: requestId as RequestId,
    organizationId: organizationId as OrganizationId,
    keyId: keyId as KeyId,
    costMicroPkr,
  };
}

/**
 * Counts the cost of each request on its key and balance, and releases its hold, in one transaction. Each request
 * counts once whatever is repeated, and whether or not its hold is still there.
 *
 * Returns those that were not counted because the ledger has closed the week of their ids (functions/close_settlements.sql): months
 * later it is no longer known whether they were counted before. Their holds are released like the others.
 */
export function settle(database: Database, settlements: readonly Settlement[]): Promise<Settlement[]> {
  return database.transaction(async (tx) => {
    await tx.run(beginSettling);
    const endedIds = settlements.map(({ requestId }) => requestId);
    const closedRows = await tx.many(listClosed, { requestIds: endedIds });
    const closed = new Set<string>(closedRows.map(({ requestId }) => requestId));
    const open = settlements.filter(({ requestId }) => !closed.has(requestId.toLowerCase()));
    const changes = await tx.many(insertSettlements, {
      requestIds: open.map(({ requestId }) => requestId),
      organizationIds: open.map(({ organizationId }) => organizationId),
      keyIds: open.map(({ keyId }) => keyId),
      costsMicroPkr: open.map(({ costMicroPkr }) => costMicroPkr),
      endedIds,
    });
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
    const changes = await tx.many(deleteOverdueHolds, { limit });
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
  const overdue = await database.many(listOverdueFinalHolds, { limit });
  const late = overdue.length === 0 ? [] : await settle(database, overdue);
  return { overdue, late };
}

async function changeAccounts(tx: Transaction, changes: readonly AccountChange[]): Promise<void> {
  if (changes.length === 0) return;
  const sums = {
    spent: changes.map(({ spentMicroPkr }) => spentMicroPkr),
    released: changes.map(({ releasedMicroPkr }) => releasedMicroPkr),
    final: changes.map(({ finalMicroPkr }) => finalMicroPkr),
  };
  await tx.run(updateKeyAccounts, { ...sums, keyIds: changes.map(({ keyId }) => keyId) });
  await tx.run(updateBalances, {
    ...sums,
    organizationIds: changes.map(({ organizationId }) => organizationId),
  });
}
