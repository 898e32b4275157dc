import { gatewayKeyPrefix, hashGatewayKey, type Secret } from '@gatehouse/contract';
import type { Transaction } from '@gatehouse/store';
import { record } from '../activity/index.ts';
import * as queries from './queries.ts';

// Keys as an operator's command makes and changes them for an organisation that it has made itself. What the endpoints
// ask of a member's request is not asked; what they write down is written down.

/** Who does it, for the activity log. */
export interface Actor {
  readonly userId: string;
  readonly sourceIp: string;
}

export interface KeyToMint extends Omit<queries.NewKey, 'keyPrefix' | 'secretHash'> {
  /** ISO 8601; the entry in the log is of now all the same. */
  readonly createdAt: string;
}

/** Mints the key with this secret, and records it. Under the organisation's lock, if it has members already. */
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

/** Bounds what the key may spend, and records it. Under the organisation's lock. */
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

/** Revokes the key, and records it. Under the organisation's lock. */
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
