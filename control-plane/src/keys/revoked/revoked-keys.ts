import type { KeyId } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import type { RecorderFor } from '../../http/recorder.ts';
import { lockOrganization } from '../../organization/index.ts';
import { revokeKey } from '../queries.ts';
import * as queries from './queries.ts';

/** A revoked key, without its secret. */
export interface RevokedKey {
  readonly id: KeyId;
  readonly revokedAt: string;
}

/** All revoked keys, oldest revocation first. */
export function listRevokedKeys(database: Database): Promise<RevokedKey[]> {
  return database.many(queries.listRevokedKeys);
}

/**
 * Revokes the keys that are not revoked, each with an activity entry without an actor: for a database restored to a time
 * before their revocation. Returns the prefixes of the keys it revoked.
 */
export async function revokeKeysAgain(
  database: Database,
  keyIds: readonly KeyId[],
  recorderFor: RecorderFor<'api_key.revoked'>,
): Promise<string[]> {
  const live = await database.many(queries.findLiveKeys, { keyIds });
  const prefixes: string[] = [];
  for (const { id, organizationId } of live) {
    const prefix = await database.transaction(async (tx) => {
      await lockOrganization(tx, organizationId);
      const revoked = await tx.one(revokeKey, { keyId: id, organizationId });
      if (!revoked) return undefined;
      const record = recorderFor({ organizationId, actorUserId: null });
      await record(tx, 'api_key.revoked', revoked.keyPrefix);
      return revoked.keyPrefix;
    });
    if (prefix !== undefined) prefixes.push(prefix);
  }
  return prefixes;
}
