import type { Database, Queryable } from '@gatehouse/store';
import type { Anchor } from './anchors.ts';
import { CHAIN_START, entryHash, type StoredEntry } from './chain.ts';
import * as queries from './queries.ts';

// Whoever changes the database behind the service's back is found out here. The log of an organisation is a chain: the
// first entry follows 32 zero bytes, or the newest checkpoint where retention has removed the beginning; each next one
// follows the one before; the last one is what the head says. The first place where that does not hold is the answer.
//
// What cannot be found out this way: somebody with every right who writes the whole chain anew from some entry on. For
// that there are anchors: heads of the log that were noted earlier and kept where the database's owner cannot change
// them.

/** What the log of one organisation is like. */
export interface Verification {
  readonly organizationId: string;
  /** Null when the organisation itself is gone. */
  readonly organizationName: string | null;
  /** How many entries there are. */
  readonly entries: number;
  /** The newest entry that retention has removed; 0 when none was. */
  readonly checkpointSequence: bigint;
  /** What the head says is the newest entry, and its hash in hexadecimal. */
  readonly lastSequence: bigint;
  readonly lastHash: string;
  /** The first entry that is not as it was written, and what is wrong with it, to follow "entry N". */
  readonly broken: { readonly sequence: bigint; readonly reason: string } | null;
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
      broken: { sequence: 1n, reason: 'is missing with the whole log, which an anchor has seen' },
    };
  }
}

async function verifyLog(
  snapshot: Queryable,
  log: queries.LogRow,
  anchors: readonly Anchor[],
): Promise<Verification> {
  const checkpoint = await snapshot.one(queries.findCheckpoint, [log.organization_id]);
  const walk = createWalk(log, checkpoint, anchors);
  let entries = 0;
  for (let after: bigint | null = null; ; ) {
    const rows: queries.EntryRow[] = await snapshot.many(queries.listEntries, [log.organization_id, after]);
    for (const row of rows) walk.step(storedEntry(row));
    entries += rows.length;
    const last = rows.at(-1);
    if (!last) break;
    after = last.sequence;
  }
  return {
    organizationId: log.organization_id,
    organizationName: log.name,
    entries,
    checkpointSequence: checkpoint?.through_sequence ?? 0n,
    lastSequence: log.last_sequence ?? 0n,
    lastHash: (log.last_hash ?? CHAIN_START).toString('hex'),
    broken: walk.end(),
  };
}

/** Goes along a chain and remembers the first place where it does not hold. */
function createWalk(
  log: queries.LogRow,
  checkpoint: { readonly through_sequence: bigint; readonly hash: Buffer } | undefined,
  anchors: readonly Anchor[],
) {
  let expected = (checkpoint?.through_sequence ?? 0n) + 1n;
  let previousHash = checkpoint?.hash ?? CHAIN_START;
  let broken: Verification['broken'] = null;
  const fail = (sequence: bigint, reason: string) => {
    broken ??= { sequence, reason };
  };
  const seenByAnchors = new Map(anchors.map((anchor) => [anchor.sequence, anchor.hash]));
  const compareWithAnchor = (sequence: bigint, hash: Buffer) => {
    const seen = seenByAnchors.get(sequence);
    if (seen !== undefined && seen !== hash.toString('hex'))
      fail(sequence, 'or one before it is not the one that an anchor has seen');
  };
  if (checkpoint) compareWithAnchor(checkpoint.through_sequence, checkpoint.hash);

  const fault = (entry: StoredEntry): Verification['broken'] => {
    const { sequence } = entry;
    if (sequence < expected) return { sequence, reason: 'should have gone with those before it' };
    if (expected > (log.last_sequence ?? 0n))
      return { sequence, reason: 'is beyond what the head says is the last' };
    if (sequence > expected) return { sequence: expected, reason: 'is missing' };
    if (!entryHash(previousHash, entry)?.equals(entry.hash))
      return { sequence, reason: 'is not as it was written' };
    return null;
  };

  return {
    step(entry: StoredEntry): void {
      broken ??= fault(entry);
      compareWithAnchor(entry.sequence, entry.hash);
      previousHash = entry.hash;
      expected = entry.sequence + 1n;
    },
    end(): Verification['broken'] {
      const last = log.last_sequence;
      // Every organisation begins with somebody who joins it.
      if (last === null || last === 0n) fail(1n, 'is missing');
      else if (expected <= last) fail(expected, 'is missing');
      else if (expected > last + 1n) fail(last, 'is what the head says is the last, and is not');
      else if (!log.last_hash?.equals(previousHash)) fail(last, 'is not the one that the head has seen');
      if (anchors.some(({ sequence }) => sequence >= expected))
        fail(expected, 'is missing, which an anchor has seen');
      return broken;
    },
  };
}

function storedEntry(row: queries.EntryRow): StoredEntry {
  return {
    organizationId: row.organization_id,
    sequence: row.sequence,
    actorUserId: row.actor_user_id,
    action: row.action,
    target: row.target,
    sourceIp: row.source_ip,
    occurredAtMicros: /^-?\d+$/.test(row.occurred_at_micros) ? BigInt(row.occurred_at_micros) : undefined,
    hash: row.hash,
  };
}
