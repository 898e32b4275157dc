import type { Anchor } from './anchors.ts';
import { CHAIN_START, entryHash, type StoredEntry } from './chain.ts';

/** The first broken entry. The reason follows the words "entry N". */
export interface Broken {
  readonly sequence: bigint;
  readonly reason: string;
}

/** The newest entry of a log, and the newest that retention has removed. */
export interface LogEnds {
  readonly isOrganizationThere: boolean;
  readonly lastSequence: bigint | null;
  readonly lastHash: Buffer | null;
  readonly checkpoint:
    | { readonly sequence: bigint; readonly hash: Buffer | null; readonly isPlausible: boolean }
    | undefined;
  readonly retentionDays: number;
  readonly nowMicros: bigint;
}

export interface ChainWalk {
  step(entry: StoredEntry): void;
  /** The first broken entry, and how many anchors are older than everything that is left to compare. */
  end(): { readonly broken: Broken | null; readonly agedAnchors: number };
}

const MICROS_PER_DAY = 86_400_000_000n;

/** Checks a chain entry by entry, in order, and remembers the first broken one. */
export function walkChain(ends: LogEnds, anchors: readonly Anchor[]): ChainWalk {
  const { checkpoint, lastSequence } = ends;
  let expected = (checkpoint?.sequence ?? 0n) + 1n;
  let previousHash = checkpoint?.hash ?? CHAIN_START;
  let broken: Broken | null = null;
  const fail = (sequence: bigint, reason: string) => {
    broken ??= { sequence, reason };
  };
  const seenByAnchors = new Map(anchors.map((anchor) => [anchor.sequence, anchor.hash]));
  const compareWithAnchor = (sequence: bigint, hash: Buffer | null) => {
    const seen = seenByAnchors.get(sequence);
    if (seen !== undefined && seen !== hash?.toString('hex'))
      fail(sequence, 'or one before it is not the one that an anchor has seen');
  };

  // Retention cannot have removed an entry that was younger than the shortest retention.
  if (checkpoint && !checkpoint.isPlausible) fail(checkpoint.sequence, 'was removed, and not by retention');
  const beforeCheckpoint = anchors.filter(({ sequence }) => checkpoint && sequence < checkpoint.sequence);
  for (const anchor of anchors.filter(({ sequence }) => checkpoint && sequence <= checkpoint.sequence)) {
    const keptDays = Math.min(anchor.retentionDays, ends.retentionDays);
    if (ends.nowMicros - anchor.lastOccurredAtMicros < BigInt(keptDays) * MICROS_PER_DAY)
      fail(anchor.sequence, 'is missing, which an anchor has seen, and is too young for retention');
  }
  if (checkpoint) compareWithAnchor(checkpoint.sequence, checkpoint.hash);

  const breakAt = (entry: StoredEntry): Broken | null => {
    const { sequence } = entry;
    if (sequence < expected)
      return { sequence, reason: 'is there twice, or should have gone with those before it' };
    if (expected > (lastSequence ?? 0n))
      return { sequence, reason: 'is beyond what the head says is the last' };
    if (sequence > expected) return { sequence: expected, reason: 'is missing' };
    if (!entry.hash || !entryHash(previousHash, entry)?.equals(entry.hash))
      return { sequence, reason: 'is not as it was written' };
    return null;
  };

  return {
    step(entry) {
      broken ??= breakAt(entry);
      compareWithAnchor(entry.sequence, entry.hash);
      previousHash = entry.hash ?? CHAIN_START;
      expected = entry.sequence + 1n;
    },
    end() {
      // Every organisation's log begins with the entry of its first member.
      if (lastSequence === null || lastSequence === 0n) fail(1n, 'is missing');
      else if (expected <= lastSequence) fail(expected, 'is missing');
      else if (expected > lastSequence + 1n)
        fail(lastSequence, 'is what the head says is the last, and is not');
      else if (!ends.lastHash?.equals(previousHash))
        fail(lastSequence, 'is not the one that the head has seen');
      if (anchors.some(({ sequence }) => sequence >= expected))
        fail(expected, 'is missing, which an anchor has seen');
      if (!ends.isOrganizationThere) fail(1n, 'and those after it are of an organisation that is gone');
      return { broken, agedAnchors: beforeCheckpoint.length };
    },
  };
}
