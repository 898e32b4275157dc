import type { OrganizationId } from '@gatehouse/contract';
import type { Database, Queryable } from '@gatehouse/store';
import type { Anchor } from './anchors.ts';
import { CHAIN_START, type StoredEntry } from './chain.ts';
import { type Broken, walkChain } from './chain-walk.ts';
import * as queries from './queries.ts';

// Detects changes to the database that did not go through the service. An organisation's log is a hash chain: the first
// entry follows 32 zero bytes, or the newest checkpoint where retention has removed the beginning; each entry follows the
// one before it; the head names the last one. The answer is the first entry where the chain breaks.
//
// The chain alone does not reveal a database owner who rewrites it from some entry on, or who removes the beginning and
// inserts a checkpoint of a plausible age. Anchors do: earlier heads of the log, kept where that owner cannot change them.

/** The state of one organisation's log. */
export interface Verification {
  readonly organizationId: OrganizationId;
  /** Null when the organisation itself is gone. */
  readonly organizationName: string | null;
  /** How many entries the log has. */
  readonly entries: number;
  /** The newest entry that retention has removed; 0 when none was. */
  readonly checkpointSequence: bigint;
  /** The newest entry by the head of the log, its hash in hexadecimal, and its time in microseconds since 1970. */
  readonly lastSequence: bigint;
  readonly lastHash: string;
  readonly lastOccurredAtMicros: bigint;
  readonly retentionDays: number;
  readonly broken: Broken | null;
  /** Anchors that cannot be compared, because retention has removed their entries. */
  readonly agedAnchors: number;
}

export interface VerifyOptions {
  /** Left out: every organisation. */
  readonly organizationId?: OrganizationId;
  readonly anchors?: readonly Anchor[];
}

/** Checks the logs one by one in one snapshot, while others go on writing. */
export async function* verifyActivity(
  database: Database,
  { organizationId, anchors = [] }: VerifyOptions = {},
): AsyncGenerator<Verification> {
  await using snapshot = await database.snapshot();
  const logs = await snapshot.many(queries.listLogs, { organizationId: organizationId ?? null });
  for (const log of logs) {
    yield await verifyLog(
      snapshot,
      log,
      anchors.filter((anchor) => anchor.organizationId === log.organizationId),
    );
  }
  // The log of an organisation that an anchor names must still exist.
  const known = new Set(logs.map((log) => log.organizationId));
  for (const anchor of anchors.filter(
    (one) => !known.has(one.organizationId) && (organizationId ?? one.organizationId) === one.organizationId,
  )) {
    known.add(anchor.organizationId);
    yield {
      organizationId: anchor.organizationId,
      organizationName: null,
      entries: 0,
      checkpointSequence: 0n,
      lastSequence: 0n,
      lastHash: CHAIN_START.toString('hex'),
      lastOccurredAtMicros: 0n,
      retentionDays: anchor.retentionDays,
      broken: { sequence: 1n, reason: 'is missing with the whole log, which an anchor has seen' },
      agedAnchors: 0,
    };
  }
}

async function verifyLog(
  snapshot: Queryable,
  log: queries.LogRow,
  anchors: readonly Anchor[],
): Promise<Verification> {
  const id = log.organizationId;
  const checkpoint = await snapshot.one(queries.findCheckpoint, { organizationId: id });
  const walk = walkChain(
    {
      isOrganizationThere: log.name !== null,
      lastSequence: log.lastSequence,
      lastHash: log.lastHash,
      checkpoint: checkpoint && {
        sequence: checkpoint.throughSequence,
        hash: checkpoint.hash,
        isPlausible: checkpoint.isPlausible === true,
      },
      retentionDays: log.retentionDays,
      nowMicros: BigInt(Date.now()) * 1_000n,
    },
    anchors,
  );
  let entries = 0;
  // The smallest number that the column can hold.
  let after: { sequence: bigint; tupleId: string | null } = { sequence: -(2n ** 63n), tupleId: null };
  for (;;) {
    const rows: queries.EntryRow[] = await snapshot.many(queries.listEntries, {
      organizationId: id,
      ...after,
    });
    for (const row of rows) if (row.sequence !== null) walk.step(storedEntry(row, row.sequence));
    entries += rows.length;
    const last = rows.at(-1);
    if (!last || last.sequence === null) break;
    after = { sequence: last.sequence, tupleId: last.tupleId };
  }
  const unnumbered = Number(
    (await snapshot.one(queries.countUnnumbered, { organizationId: id }))?.count ?? 0n,
  );
  const { broken, agedAnchors } = walk.end();
  const lastSequence = log.lastSequence ?? 0n;
  return {
    organizationId: id,
    organizationName: log.name,
    entries: entries + unnumbered,
    checkpointSequence: checkpoint?.throughSequence ?? 0n,
    lastSequence,
    lastHash: (log.lastHash ?? CHAIN_START).toString('hex'),
    lastOccurredAtMicros: microsOf(log.lastOccurredAtMicros) ?? 0n,
    retentionDays: log.retentionDays,
    broken:
      broken ??
      (unnumbered > 0 ? { sequence: lastSequence, reason: 'is followed by one without a number' } : null),
    agedAnchors,
  };
}

function storedEntry(row: queries.EntryRow, sequence: bigint): StoredEntry {
  return {
    organizationId: row.organizationId,
    sequence,
    actorUserId: row.actorUserId,
    action: row.action,
    target: row.target,
    sourceIp: row.sourceIp,
    occurredAtMicros: microsOf(row.occurredAtMicros),
    hash: row.hash,
  };
}

/** Undefined for a value that is not a time, and for infinity. */
function microsOf(text: string | null): bigint | undefined {
  return text !== null && /^-?\d+$/.test(text) ? BigInt(text) : undefined;
}
