import { conflict, keys, type OrganizationId, parseHeader } from '@gatehouse/contract';
import type { Transaction } from '@gatehouse/store';
import { fingerprint } from './fingerprint.ts';
import { alreadyMinted } from './messages.ts';
import * as queries from './queries.ts';

/** A request that makes a secret once, by its Idempotency-Key; undefined without one. `content` tells requests apart. */
export function readRepeatable(
  organizationId: OrganizationId,
  given: string | undefined,
  content: Readonly<Record<string, unknown>>,
): queries.IdempotentRequest | undefined {
  const idempotencyKey = parseHeader(keys.idempotencyKey, 'idempotency-key', given);
  if (idempotencyKey === undefined) return undefined;
  return { organizationId, idempotencyKey, requestSha256: fingerprint(content) };
}

/** 409 for a repeat. Runs under the organisation's lock: of concurrent repeats, only the first finds nothing. */
export async function rejectRepeat(
  tx: Transaction,
  request: queries.IdempotentRequest | undefined,
): Promise<void> {
  const minted = request && (await tx.one(queries.findMintedBefore, request));
  if (minted) throw conflict(alreadyMinted(minted.keyPrefix, minted.isSameRequest));
}
