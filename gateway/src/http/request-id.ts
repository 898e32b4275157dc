import { randomUUID } from 'node:crypto';
import type { RequestId } from '@gatehouse/contract';

/**
 * An id for a request that began at this time: a UUIDv7, so that ids sort by time and the ledger can tell from one
 * how old its request is. `nowMs` is the epoch time.
 */
export function newRequestId(nowMs: number): RequestId {
  const time = Math.floor(nowMs).toString(16).padStart(12, '0');
  // The digits behind the version keep their meaning: the variant, and 74 bits by chance.
  return `${time.slice(0, 8)}-${time.slice(8, 12)}-7${randomUUID().slice(15)}` as RequestId;
}
