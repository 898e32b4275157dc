import { createHash } from 'node:crypto';
import type { OrganizationId } from '@gatehouse/contract';

/** A stored entry with the fields that its hash covers. The service writes no null but that of an actor. */
export interface StoredEntry {
  readonly organizationId: OrganizationId;
  readonly sequence: bigint;
  readonly actorUserId: string | null;
  readonly action: string | null;
  readonly target: string | null;
  readonly sourceIp: string | null;
  /** Microseconds since 1970. Undefined when the stored value is not a time, which the service never writes. */
  readonly occurredAtMicros: bigint | undefined;
  readonly hash: Buffer | null;
}

/** The hash before the first entry of an organisation. */
export const CHAIN_START: Buffer = Buffer.alloc(32);

/**
 * The hash of an entry: SHA-256 over the previous entry's hash and the entry's canonical bytes. The database's function
 * activity_entry_hash computes the same; this second implementation checks the log with code that did not write it.
 * Undefined for an entry that has no canonical bytes. See docs/decisions/0011.
 */
export function entryHash(previousHash: Buffer, entry: StoredEntry): Buffer | undefined {
  const { sequence, occurredAtMicros, action, target, sourceIp } = entry;
  if (action === null || target === null || sourceIp === null) return undefined;
  if (occurredAtMicros === undefined || BigInt.asIntN(64, occurredAtMicros) !== occurredAtMicros)
    return undefined;
  return createHash('sha256')
    .update(previousHash)
    .update(uuidBytes(entry.organizationId))
    .update(int64(sequence))
    .update(
      entry.actorUserId === null ? Buffer.of(0) : Buffer.concat([Buffer.of(1), uuidBytes(entry.actorUserId)]),
    )
    .update(sizedText(action))
    .update(sizedText(target))
    .update(sizedText(sourceIp))
    .update(int64(occurredAtMicros))
    .digest();
}

function uuidBytes(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

function int64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}

function sizedText(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  const size = Buffer.alloc(4);
  size.writeInt32BE(bytes.length);
  return Buffer.concat([size, bytes]);
}
