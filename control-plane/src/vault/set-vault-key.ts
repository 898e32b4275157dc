import { badRequest, unavailable, vault } from '@gatehouse/contract';
import {
  type Database,
  type KeyRing,
  type MasterKey,
  MOST_WRAPS,
  type Queryable,
  sealRecord,
  type Transaction,
} from '@gatehouse/store';
import type { Logger } from 'pino';
import { withSession } from '../http/implement.ts';
import * as queries from './queries.ts';
import { keyHint, providerFault } from './rules.ts';
import { vaultKeyFields } from './vault-key-fields.ts';

export interface VaultDependencies {
  readonly database: Database;
  readonly keyRing: KeyRing;
  readonly log: Logger;
}

/** The gateway reads the record for every request, so once this has committed every node uses the new key. */
export function setVaultKey(parts: VaultDependencies) {
  const { database } = parts;
  return withSession(vault.setVaultKey, async ({ body, record, requestId }, session) => {
    const { organizationId } = session;
    const { provider, api_key: providerKey } = body;
    const fault = providerFault(provider, await database.many(queries.listProviders));
    if (fault !== undefined) throw badRequest(fault);
    // A key that has to be looked for is found before anything is locked.
    await currentKey(database, parts, requestId);

    const row = await database.transaction(async (tx) => {
      await tx.run(queries.shareCurrentKey);
      const masterKey = await currentKey(tx, parts, requestId);
      const next = await tx.one(queries.nextVersion);
      if (!next) throw new Error('a sequence gave no number');
      const sealed = sealRecord(masterKey, { organizationId, provider, version: next.version }, providerKey);
      const stored = await tx.one(queries.upsertKey, [
        organizationId,
        provider,
        sealed.version,
        sealed.sealedKey,
        sealed.wrappedKey,
        sealed.masterKeyId,
        keyHint(providerKey),
      ]);
      if (!stored) throw new Error('an upsert of one vault key returned no row');
      await countWrap(tx, parts, organizationId, masterKey, requestId);
      await record(tx, 'vault_key.set', provider);
      return stored;
    });
    return { body: vaultKeyFields(row) };
  });
}

async function currentKey(
  database: Queryable,
  { keyRing, log }: VaultDependencies,
  requestId: string,
): Promise<MasterKey> {
  const current = await database.one(queries.findCurrentKey);
  const masterKey = current && (await keyRing.find(current.id));
  if (masterKey) return masterKey;
  log.error(
    { request_id: requestId, master_key_id: current?.id },
    'the vault is under a master key that this process does not have',
  );
  throw unavailable('The vault cannot be used right now.');
}

// Past this many, two nonces under one key could be the same; a new master key starts the count anew.
async function countWrap(
  tx: Transaction,
  { log }: VaultDependencies,
  organizationId: string,
  masterKey: MasterKey,
  requestId: string,
): Promise<void> {
  const counted = await tx.one(queries.countWraps, [[organizationId], masterKey.id]);
  if ((counted?.wraps ?? 0n) <= MOST_WRAPS) return;
  log.error(
    { request_id: requestId, organization_id: organizationId, master_key_id: masterKey.id },
    "an organisation's key in the vault is worn out: run gatehouse vault rotate",
  );
  throw unavailable('The vault cannot take another key until its operator has rotated the master key.');
}
