import type { KeyId, OrganizationId, RequestId } from '@gatehouse/contract';
import type { Database, Transaction } from '@gatehouse/store';
import type { FinishedRequest } from './finished-request.ts';
import {
  type AccountChange,
  advancePositions,
  beginSettling,
  deleteOverdueHolds,
  insertSettlements,
  listCovered,
  listOld,
  listOverdueFinalHolds,
  lockHolds,
  lockPositions,
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

/** Where a record is: the ids of its segment, and the byte that its line ends before. */
export interface RecordPlace {
  readonly origin: string;
  readonly sequence: number;
  readonly end: number;
}

/** What of a segment the ledger has counted: every record before this byte. */
export interface SettledSegment {
  readonly origin: string;
  readonly sequence: number;
  readonly settledBytes: number;
}

/** Where settlements come from, if they come from a journal. */
export interface SettlementSource {
  /** Of each settlement. */
  readonly places: readonly RecordPlace[];
  /** What holds when all of them have been counted. */
  readonly settled: readonly SettledSegment[];
}

/**
 * Counts the cost of each request on its key and balance, and releases its hold, in one transaction. Each request
 * counts once whatever is repeated, and whether or not its hold is still there.
 *
 * A request is recognised by its settlement, a row. After some hours the rows become sums (functions/fold_settled_requests.sql).
 * From then on a record is recognised by its position: up to where the ledger has its segment commits with the rows.
 *
 * Returns those that were not counted because the ledger has closed the week of their ids (functions/close_settlements.sql): months
 * later it is no longer known whether they were counted before. Their holds are released like the others.
 */
export function settle(
  database: Database,
  settlements: readonly Settlement[],
  source?: SettlementSource,
): Promise<Settlement[]> {
  return database.transaction(async (tx) => {
    await tx.run(beginSettling);
    const endedIds = settlements.map(({ requestId }) => requestId);
    const old = await tx.many(listOld, { requestIds: endedIds });
    const closed = new Set<string>(old.filter(({ isClosed }) => isClosed).map(({ requestId }) => requestId));
    const counted = old.every(({ isClosed }) => isClosed)
      ? NONE
      : await listCounted(tx, settlements, old, source);
    const isOpen = settlements.map(({ requestId }) => {
      const id = requestId.toLowerCase();
      return !closed.has(id) && !counted.has(id);
    });
    const open = settlements.filter((_, index) => isOpen[index]);
    const positioned = new Set(source?.settled.map(nameOf));
    const changes = await tx.many(insertSettlements, {
      requestIds: open.map(({ requestId }) => requestId),
      organizationIds: open.map(({ organizationId }) => organizationId),
      keyIds: open.map(({ keyId }) => keyId),
      costsMicroPkr: open.map(({ costMicroPkr }) => costMicroPkr),
      arePositioned: settlements
        .map((_, index) => source?.places[index])
        .filter((_, index) => isOpen[index])
        .map((place) => place !== undefined && positioned.has(nameOf(place))),
      endedIds,
    });
    if (source && source.settled.length > 0) {
      await tx.run(advancePositions, {
        origins: source.settled.map(({ origin }) => origin),
        sequences: source.settled.map(({ sequence }) => sequence),
        settledBytes: source.settled.map(({ settledBytes }) => settledBytes),
      });
    }
    await changeAccounts(tx, changes);
    if (closed.size === 0) return [];
    return settlements.filter(
      ({ requestId, costMicroPkr }) => costMicroPkr > 0n && closed.has(requestId.toLowerCase()),
    );
  });
}

const NONE: ReadonlySet<string> = new Set();

function nameOf({ origin, sequence }: Pick<RecordPlace, 'origin' | 'sequence'>): string {
  return `${origin}.${sequence}`;
}

/**
 * Of requests whose settlements may have been folded, those that have been counted. From a journal, these are the records that a
 * position covers. Otherwise they are the requests without a hold: a hold is deleted by the transaction that counts.
 */
async function listCounted(
  tx: Transaction,
  settlements: readonly Settlement[],
  old: readonly { readonly requestId: RequestId; readonly isClosed: boolean }[],
  source: SettlementSource | undefined,
): Promise<ReadonlySet<string>> {
  const folded = new Set<string>(old.filter(({ isClosed }) => !isClosed).map(({ requestId }) => requestId));
  const indexes = settlements.flatMap(({ requestId }, index) =>
    folded.has(requestId.toLowerCase()) ? [index] : [],
  );
  const requestIds = indexes.map((index) => (settlements[index] as Settlement).requestId);
  if (!source) {
    const held = new Set<string>(
      (await tx.many(lockHolds, { requestIds })).map(({ requestId }) => requestId),
    );
    return new Set([...folded].filter((id) => !held.has(id)));
  }
  const places = indexes.map((index) => source.places[index] as RecordPlace);
  const segments = {
    origins: places.map(({ origin }) => origin),
    sequences: places.map(({ sequence }) => sequence),
  };
  await tx.run(lockPositions, segments);
  const covered = await tx.many(listCovered, {
    ...segments,
    requestIds,
    ends: places.map(({ end }) => end),
  });
  return new Set(covered.map(({ requestId }) => requestId));
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
