import type { Database, Queryable } from '@gatehouse/store';
import type { Anchor } from './anchors.ts';
import { CHAIN_START, type StoredEntry } from './chain.ts';
import { type Broken, walkChain } from './chain-walk.ts';
import * as queries from './queries.ts';

// Whoever changes the database behind the service's back is found out here. The log of an organisation is a chain: the
// first entry follows 32 zero bytes, or the newest checkpoint where retention has removed the beginning; each next one
// follows the one before; the last one is what the head says. The first place where that does not hold is the answer.
//
// What cannot be found out this way: somebody with every right who writes the whole chain anew from some entry on, or
// removes the beginning and puts a checkpoint of the right age in its place. For that there are anchors: heads of the
// log that were noted earlier and kept where the database's owner cannot change them.

/** What the log of one organisation is like. */
export interface Verification {
  readonly organizationId: string;
  /** Null when the organisation itself is gone. */
  readonly organizationName: string | null;
  /** How many entries there are. */
  readonly entries: number;
  /** The newest entry that retention has removed; 0 when none was. */
  readonly checkpointSequence: bigint;
  /** What the head says is the newest entry, its hash in hexadecimal, and its time in microseconds since 1970. */
  readonly lastSequence: bigint;
  readonly lastHash: string;
  readonly lastOccurredAtMicros: bigint;
  readonly retentionDays: number;
  readonly broken: Broken | null;
  /** Anchors whose entries retention has removed meanwhile, so that there is nothing left to compare. */
  readonly agedAnchors: number;
}

export interface VerifyOptions {
  /** Left out: every organisation. */
  readonly organizationId?: string;
  readonly anchors?: readonly Anchor[];
}

/** Checks the logs one after the other, all as they were at one moment, while others go on writing. */
export async function* verifyActivity(
  database: Database,
  { organizationId, anchors = [] }: VerifyOptions = {},
): AsyncGenerator<Verification> {
  await using snapshot = await database.snapshot();
  const logs = await snapshot.many(queries.listLogs, [organizationId ?? null]);
  for (const log of logs) {
    yield await verifyLog(
      snapshot,
      log,
      anchors.filter((anchor) => anchor.organizationId === log.organization_id),
    );
  }
  // An organisation that an anchor has seen does not go away.
  const known = new Set(logs.map((log) => log.organization_id));
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
  const id = log.organization_id;
  const checkpoint = await snapshot.one(queries.findCheckpoint, [id]);
  const walk = walkChain(
    {
      isOrganizationThere: log.name !== null,
      lastSequence: log.last_sequence,
      lastHash: log.last_hash,
      checkpoint: checkpoint && {
        sequence: checkpoint.through_sequence,
        hash: checkpoint.hash,
        isPlausible: checkpoint.is_plausible === true,
      },
      retentionDays: log.retention_days,
      nowMicros: BigInt(Date.now()) * 1_000n,
    },
    anchors,
  );
  let entries = 0;
  // The least number that the column can hold.
  let after: readonly [sequence: bigint, place: string | null] = [-(2n ** 63n), null];
  for (;;) {
    const rows: queries.EntryRow[] = await snapshot.many(queries.listEntries, [id, ...after]);
    for (const row of rows) if (row.sequence !== null) walk.step(storedEntry(row, row.sequence));
    entries += rows.length;
    const last = rows.at(-1);
    if (!last || last.sequence === null) break;
    after = [last.sequence, last.place];
  }
  const unnumbered = Number((await snapshot.one(queries.countUnnumbered, [id]))?.count ?? 0n);
  const { broken, agedAnchors } = walk.end();
  const lastSequence = log.last_sequence ?? 0n;
  return {
    organizationId: id,
    organizationName: log.name,
    entries: entries + unnumbered,
    checkpointSequence: checkpoint?.through_sequence ?? 0n,
    lastSequence,
    lastHash: (log.last_hash ?? CHAIN_START).toString('hex'),
    lastOccurredAtMicros: microsOf(log.last_occurred_at_micros) ?? 0n,
    retentionDays: log.retention_days,
    broken:
      broken ??
      (unnumbered > 0 ? { sequence: lastSequence, reason: 'is followed by one without a number' } : null),
    agedAnchors,
  };
}

function storedEntry(row: queries.EntryRow, sequence: bigint): StoredEntry {
  return {
    organizationId: row.organization_id,
    sequence,
    actorUserId: row.actor_user_id,
    action: row.action,
    target: row.target,
    sourceIp: row.source_ip,
    occurredAtMicros: microsOf(row.occurred_at_micros),
    hash: row.hash,
  };
}

/** Undefined for what is no time, or one without end. */
function microsOf(text: string | null): bigint | undefined {
  return text !== null && /^-?\d+$/.test(text) ? BigInt(text) : undefined;
}
