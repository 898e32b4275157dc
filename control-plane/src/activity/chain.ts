import { createHash } from 'node:crypto';

/** An entry of the log as it is stored, with what its hash is made of. What is null was never written so. */
export interface StoredEntry {
  readonly organizationId: string;
  readonly sequence: bigint;
  readonly actorUserId: string | null;
  readonly action: string | null;
  readonly target: string | null;
  readonly sourceIp: string | null;
  /** Microseconds since 1970. Undefined when the stored time is none, which the service never writes. */
  readonly occurredAtMicros: bigint | undefined;
  readonly hash: Buffer | null;
}

/** What the first entry of an organisation has before it. */
export const CHAIN_START: Buffer = Buffer.alloc(32);

/**
 * The hash that an entry should have after the one before it: SHA-256 over that one's hash and the entry's canonical
 * bytes. Written down a second time, beside the database's own function (0006-activity-chain.sql), so that the log is
 * checked by other code than that which wrote it. Undefined for what has no canonical bytes.
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
