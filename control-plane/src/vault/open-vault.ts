import {
  checkCanary,
  type Database,
  type KeyRing,
  type MasterKey,
  type Queryable,
  sealCanary,
  VaultTampered,
} from '@gatehouse/store';
import * as queries from './queries.ts';

/** The vault cannot be used with the given master keys. The message is for the operator. */
export class VaultError extends Error {
  override readonly name = 'VaultError';
}

/** The id of the vault's current master key; undefined for a vault that was never opened. Read-only. */
export async function findVaultKeyId(database: Queryable): Promise<string | undefined> {
  return (await database.one(queries.findCurrentKey))?.id;
}

/**
 * Proves that the master key is the vault's, by decrypting the canary. The first process that opens a vault stores the
 * canary; of several that start at once, exactly one does, and the others must have the same key.
 * @throws VaultError for a wrong key; nothing is changed then
 */
export async function openVault(database: Database, keyRing: KeyRing, firstKey: MasterKey): Promise<void> {
  const current =
    (await database.one(queries.findCurrentKey)) ??
    (await database.transaction(async (tx) => {
      await tx.run(queries.lockCurrentKey);
      await tx.run(queries.insertFirstKey, { id: firstKey.id, canary: sealCanary(firstKey) });
      return tx.one(queries.findCurrentKey);
    }));
  if (!current) throw new VaultError('the vault has master keys and none of them is its current one');
  requireKey(await keyRing.find(current.id), current, firstKey);
}

/** The key, proven by its canary. @throws VaultError for a missing or wrong key */
export function requireKey(
  masterKey: MasterKey | undefined,
  current: { readonly id: string; readonly canary: Buffer },
  given: MasterKey,
): MasterKey {
  if (!masterKey) {
    throw new VaultError(
      `the master key is not the one that the vault is encrypted under: given is the one with the id ${given.id}, needed is the one with the id ${current.id}; nothing was changed`,
    );
  }
  try {
    checkCanary(masterKey, current.canary);
  } catch (error) {
    if (!(error instanceof VaultTampered)) throw error;
    throw new VaultError(
      'the canary of the vault does not open under its own master key: it was tampered with; nothing was changed',
      { cause: error },
    );
  }
  return masterKey;
}
