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

/** The vault and the master key that was given do not go together. The message is for the operator. */
export class VaultError extends Error {
  override readonly name = 'VaultError';
}

/** The id of the master key that the vault is under; undefined for a vault that was never opened. Changes nothing. */
export async function findVaultKeyId(database: Queryable): Promise<string | undefined> {
  return (await database.one(queries.findCurrentKey))?.id;
}

/**
 * Proves that the master key is the right one, by the canary that it left when the vault was first opened. The first
 * one to open a vault leaves it: of several that start at once one does, and the others are held against it.
 * Throws VaultError, and has changed nothing, when it is not the right one.
 */
export async function openVault(database: Database, keyRing: KeyRing, firstKey: MasterKey): Promise<void> {
  const current =
    (await database.one(queries.findCurrentKey)) ??
    (await database.transaction(async (tx) => {
      await tx.run(queries.lockCurrentKey);
      await tx.run(queries.insertFirstKey, [firstKey.id, sealCanary(firstKey)]);
      return tx.one(queries.findCurrentKey);
    }));
  if (!current) throw new VaultError('the vault has master keys and none of them is its current one');
  requireKey(await keyRing.find(current.id), current, firstKey);
}

/** The key, proven by its canary. Throws VaultError for a missing or wrong one. */
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
      'the canary of the vault does not open under the master key that it names: somebody has changed it; nothing was changed now',
      { cause: error },
    );
  }
  return masterKey;
}
