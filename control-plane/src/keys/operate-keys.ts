import {
  gatewayKeyPrefix,
  hashGatewayKey,
  type KeyId,
  type OrganizationId,
  type Secret,
} from '@gatehouse/contract';
import type { Transaction } from '@gatehouse/store';
import type { Recorder } from '../http/recorder.ts';
import { insertKey } from './insert-key.ts';
import * as queries from './queries.ts';

// Keys as an operator's command creates and changes them. Unlike the endpoints, these do not check a member's request;
// like the endpoints, they record every change.

export interface KeyToMint extends Omit<queries.NewKey, 'keyPrefix' | 'secretHash'> {
  /** ISO 8601. The activity entry has the current time. */
  readonly createdAt: string;
}

/** Mints a key and records it. Requires the organisation's lock, unless the transaction created the organisation. Throws a 409 where
 *  the organisation has too many keys. */
export async function mintKey(
  tx: Transaction,
  { createdAt, ...key }: KeyToMint,
  secret: Secret,
  record: Recorder<'api_key.created'>,
): Promise<{ readonly id: KeyId; readonly keyPrefix: string }> {
  const row = await insertKey(tx, {
    ...key,
    keyPrefix: gatewayKeyPrefix(secret.reveal()),
    secretHash: hashGatewayKey(secret.reveal()),
  });
  await tx.run(queries.backdateKey, { keyId: row.id, organizationId: key.organizationId, createdAt });
  await record(tx, 'api_key.created', row.keyPrefix);
  return { id: row.id, keyPrefix: row.keyPrefix };
}

/** Sets the key's credit limit and records it. Requires the organisation's lock. */
export async function limitKey(
  tx: Transaction,
  { organizationId, keyId, creditLimitMicroPkr }: LimitOfKey,
  record: Recorder<'api_key.updated'>,
): Promise<void> {
  const row = await tx.one(queries.limitKey, { keyId, organizationId, creditLimitMicroPkr });
  if (!row) throw new Error(`the key ${keyId} cannot be given this limit`);
  await record(tx, 'api_key.updated', row.keyPrefix);
}

export interface LimitOfKey {
  readonly organizationId: OrganizationId;
  readonly keyId: KeyId;
  readonly creditLimitMicroPkr: bigint;
}

/** Revokes the key and records it. Requires the organisation's lock. False where it is revoked already. */
export async function retireKey(
  tx: Transaction,
  { organizationId, keyId }: Omit<LimitOfKey, 'creditLimitMicroPkr'>,
  record: Recorder<'api_key.revoked'>,
): Promise<boolean> {
  const row = await tx.one(queries.revokeKey, { keyId, organizationId });
  if (row) await record(tx, 'api_key.revoked', row.keyPrefix);
  return row !== undefined;
}
