import { gatewayKeyPrefix, hashGatewayKey, type Secret } from '@gatehouse/contract';
import type { Transaction } from '@gatehouse/store';
import { record } from '../activity/index.ts';
import * as queries from './queries.ts';

// Keys as an operator's command creates and changes them. Unlike the endpoints, these do not check a member's request;
// like the endpoints, they record every change.

/** Who does it, for the activity log. */
export interface Actor {
  readonly userId: string;
  readonly sourceIp: string;
}

export interface KeyToMint extends Omit<queries.NewKey, 'keyPrefix' | 'secretHash'> {
  /** ISO 8601. The activity entry has the current time. */
  readonly createdAt: string;
}

/** Mints a key and records it. Requires the organisation's lock, unless the transaction created the organisation. */
export async function mintKey(
  tx: Transaction,
  { createdAt, ...key }: KeyToMint,
  secret: Secret,
  { userId, sourceIp }: Actor,
): Promise<{ readonly id: string; readonly keyPrefix: string }> {
  const row = await queries.insertKey(tx, {
    ...key,
    keyPrefix: gatewayKeyPrefix(secret.reveal()),
    secretHash: hashGatewayKey(secret.reveal()),
  });
  await tx.run(queries.backdateKey, [row.id, createdAt]);
  const { organizationId } = key;
  await record(tx, {
    organizationId,
    actorUserId: userId,
    action: 'api_key.created',
    target: row.key_prefix,
    sourceIp,
  });
  return { id: row.id, keyPrefix: row.key_prefix };
}

/** Sets the key's credit limit and records it. Requires the organisation's lock. */
export async function limitKey(
  tx: Transaction,
  { organizationId, keyId, creditLimitMicroPkr }: LimitOfKey,
  { userId, sourceIp }: Actor,
): Promise<void> {
  const row = await tx.one(queries.limitKey, [keyId, organizationId, creditLimitMicroPkr]);
  if (!row) throw new Error(`the key ${keyId} cannot be given this limit`);
  await record(tx, {
    organizationId,
    actorUserId: userId,
    action: 'api_key.updated',
    target: row.key_prefix,
    sourceIp,
  });
}

export interface LimitOfKey {
  readonly organizationId: string;
  readonly keyId: string;
  readonly creditLimitMicroPkr: bigint;
}

/** Revokes the key and records it. Requires the organisation's lock. */
export async function retireKey(
  tx: Transaction,
  { organizationId, keyId }: Omit<LimitOfKey, 'creditLimitMicroPkr'>,
  { userId, sourceIp }: Actor,
): Promise<void> {
  const row = await tx.one(queries.revokeKey, [keyId, organizationId]);
  if (!row) throw new Error(`the key ${keyId} is revoked already`);
  await record(tx, {
    organizationId,
    actorUserId: userId,
    action: 'api_key.revoked',
    target: row.key_prefix,
    sourceIp,
  });
}
