import { randomUUID } from 'node:crypto';
import type { RequestId } from '@gatehouse/contract';

/**
 * The id of a request: a UUIDv7, so that ids sort by time and the ledger can derive the age of a request from its id.
 * `nowMs` is the epoch time of its start.
 */
export function newRequestId(nowMs: number): RequestId {
  const time = Math.floor(nowMs).toString(16).padStart(12, '0');
  // After the version come the variant and 74 random bits, as in a UUIDv4.
  return `${time.slice(0, 8)}-${time.slice(8, 12)}-7${randomUUID().slice(15)}` as RequestId;
}
