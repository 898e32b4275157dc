import { type OrganizationId, type Secret, unavailable } from '@gatehouse/contract';
import {
  type Database,
  type KeyRing,
  MAX_WRAPS,
  type MasterKey,
  type Queryable,
  type SealedRecord,
  sealRecord,
  type Transaction,
} from '@gatehouse/store';
import type { Logger } from 'pino';
import * as queries from './queries.ts';

export interface VaultDependencies {
  readonly database: Database;
  readonly keyRing: KeyRing;
  readonly log: Logger;
}

/** The vault, and the request that a secret is sealed for. */
export type Sealing = VaultDependencies & { readonly requestId: string };

/** Loading a master key can take long, so it is done before anything is locked. Throws the 503 of a vault that cannot be used. */
export async function loadCurrentKey(sealing: Sealing): Promise<void> {
  await currentKey(sealing.database, sealing);
}

/** Seals a secret under the current master key, which stays current until the commit. `countWrap` has to follow. */
export async function sealSecret(
  tx: Transaction,
  sealing: Sealing,
  place: { readonly organizationId: OrganizationId; readonly provider: string },
  secret: Secret,
): Promise<SealedRecord> {
  await tx.run(queries.shareCurrentKey);
  const masterKey = await currentKey(tx, sealing);
  const next = await tx.one(queries.nextVersion);
  if (!next) throw new Error('nextval returned no row');
  return sealRecord(masterKey, { ...place, version: next.version }, secret.reveal());
}

async function currentKey(database: Queryable, { keyRing, log, requestId }: Sealing): Promise<MasterKey> {
  const current = await database.one(queries.findCurrentKey);
  const masterKey = current && (await keyRing.find(current.id));
  if (masterKey) return masterKey;
  log.error(
    { event: 'vault.master_key_missing', request_id: requestId, master_key_id: current?.id },
    'the current master key of the vault is not available to this process',
  );
  throw unavailable('The vault cannot be used right now.');
}

/**
 * Counts a sealed secret, after its record was written. Beyond the limit, random nonces under one key could collide. A new master key
 * resets the count.
 */
export async function countWrap(
  tx: Transaction,
  { log, requestId }: Sealing,
  { organizationId, masterKeyId }: { readonly organizationId: OrganizationId; readonly masterKeyId: string },
): Promise<void> {
  const counted = await tx.one(queries.countWraps, {
    organizationIds: [organizationId],
    masterKeyId,
  });
  if ((counted?.wraps ?? 0n) <= MAX_WRAPS) return;
  log.error(
    {
      event: 'vault.wrap_limit_reached',
      request_id: requestId,
      organization_id: organizationId,
      master_key_id: masterKeyId,
    },
    'an organisation has reached the wrap limit of its vault key: run gatehouse vault rotate',
  );
  throw unavailable('The vault cannot take another key until its operator has rotated the master key.');
}
