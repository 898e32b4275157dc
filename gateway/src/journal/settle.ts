import type { KeyId, OrganizationId, RequestId } from '@gatehouse/contract';
import { type Queryable, withRetries } from '@gatehouse/store';
import type { FinishedRequest } from './finished-request.ts';
import { listOverdueFinalHolds, releaseOverdue, settleRequests } from './queries.ts';

/** The fields of a finished request that the ledger needs. */
export interface Settlement {
  readonly requestId: RequestId;
  readonly organizationId: OrganizationId;
  readonly keyId: KeyId;
  readonly costMicroPkr: bigint;
  readonly windowIds?: string | undefined;
}

/** The settlement of a request, or undefined where it cost nothing and held nothing. */
export function settlementOf(request: FinishedRequest): Settlement | undefined {
  const { requestId, organizationId, keyId, costMicroPkr, isHeld, windowIds } = request;
  if (keyId === null) return undefined;
  if (!isHeld && costMicroPkr === 0n) return undefined;
  // The record was written with the ids of a request that was admitted, or of a key that was found.
  return {
    requestId: requestId as RequestId,
    organizationId: organizationId as OrganizationId,
    keyId: keyId as KeyId,
    costMicroPkr,
    ...(windowIds && { windowIds }),
  };
}

/** The place of a record: the ids of its segment, and the byte that its line ends before. */
export interface RecordPlace {
  readonly origin: string;
  readonly sequence: number;
  readonly end: number;
}

/** The part of a segment that the ledger has counted: every record before this byte. */
export interface SettledSegment {
  readonly origin: string;
  readonly sequence: number;
  readonly settledBytes: number;
}

/** The source of settlements. */
export interface SettlementSource {
  /** The place of each settlement; undefined where they come from no journal. */
  readonly places: readonly RecordPlace[] | undefined;
  /** The positions that hold when all of them have been counted. */
  readonly settled: readonly SettledSegment[];
}

/**
 * Counts the cost of each request on its key and balance, and releases its hold, in one transaction
 * (store/src/postgres/functions/settle.sql). Each request counts once whatever is repeated, and whether or not its hold is
 * still there.
 *
 * Returns those that were not counted because the ledger has closed the week of their ids (functions/close_settlements.sql): months
 * later it is no longer known whether they were counted before. Their holds are released like the others.
 */
export async function settle(
  database: Queryable,
  settlements: readonly Settlement[],
  { places, settled }: SettlementSource = NO_SOURCE,
): Promise<Settlement[]> {
  const positioned = new Set(settled.map(nameOf));
  const closed = await withRetries(() =>
    database.many(settleRequests, {
      requestIds: settlements.map(({ requestId }) => requestId),
      organizationIds: settlements.map(({ organizationId }) => organizationId),
      keyIds: settlements.map(({ keyId }) => keyId),
      costsMicroPkr: settlements.map(({ costMicroPkr }) => costMicroPkr),
      windowIds: settlements.map(({ windowIds }) => windowIds ?? null),
      arePositioned: settlements.map((_, index) => {
        const place = places?.[index];
        return place !== undefined && positioned.has(nameOf(place));
      }),
      origins: places?.map(({ origin }) => origin) ?? null,
      sequences: places?.map(({ sequence }) => sequence) ?? null,
      ends: places?.map(({ end }) => end) ?? null,
      settledOrigins: settled.map(({ origin }) => origin),
      settledSequences: settled.map(({ sequence }) => sequence),
      settledBytes: settled.map(({ settledBytes }) => settledBytes),
    }),
  );
  if (closed.length === 0) return [];
  const late = new Set<string>(closed.map(({ requestId }) => requestId));
  return settlements.filter(
    ({ requestId, costMicroPkr }) => costMicroPkr > 0n && late.has(requestId.toLowerCase()),
  );
}

const NO_SOURCE: SettlementSource = { places: undefined, settled: [] };

function nameOf({ origin, sequence }: Pick<RecordPlace, 'origin' | 'sequence'>): string {
  return `${origin}.${sequence}`;
}

export interface ReleasedHolds {
  readonly holds: number;
  readonly amountMicroPkr: bigint;
}

/** Releases up to `limit` holds that are past their deadline, of requests that are not known to have finished. */
export async function releaseOverdueHolds(database: Queryable, limit: number): Promise<ReleasedHolds> {
  const released = await withRetries(() => database.one(releaseOverdue, { limit }));
  return { holds: Number(released?.holds ?? 0), amountMicroPkr: released?.amountMicroPkr ?? 0n };
}

/**
 * Settles up to `limit` finished requests whose holds are past their deadline: their node has not done so, and what they
 * cost must not become free meanwhile. Their records, when they come, count no more. Returns all of them, and
 * those of a closed week, whose holds are released only.
 */
export async function settleOverdueHolds(
  database: Queryable,
  limit: number,
): Promise<{ readonly overdue: readonly Settlement[]; readonly late: readonly Settlement[] }> {
  const overdue = await database.many(listOverdueFinalHolds, { limit });
  const late = overdue.length === 0 ? [] : await settle(database, overdue);
  return { overdue, late };
}
