import { findVaultKeyId, openVault } from '@gatehouse/control-plane/vault';
import { type Database, type KeyRing, MasterKey } from '@gatehouse/store';
import type { Logger } from 'pino';
import { ConfigError } from '../config/config.ts';
import { masterKeyPaths, placeMasterKey, readMasterKeyFile } from './master-key-file.ts';
import {
  DEFAULT_FILE,
  type Environment,
  type KeyConfig,
  keepsOwnKey,
  type MasterKeys,
  openKeyRing,
  readMasterKeys,
} from './master-key-sources.ts';

/** The master keys of a running service. */
export interface OpenedKeys {
  /** The keys that it started with. */
  readonly keys: readonly MasterKey[];
  readonly keyRing: KeyRing;
}

/**
 * Keys that the settings give are read before any store is opened or migrated: a file that is missing, or a command that fails, then
 * changes nothing. The key of the installation itself is read with its vault.
 */
export async function readGivenKeys(
  config: KeyConfig,
  environment: Environment,
): Promise<MasterKeys | undefined> {
  return keepsOwnKey(config) ? undefined : readMasterKeys(config, environment);
}

/**
 * The master keys of a service that starts, proven to be those that its vault is under. An embedded installation makes
 * its key here if it never had one. Throws ConfigError or VaultError, and has changed nothing, when the key is
 * missing or wrong.
 */
export async function openMasterKeys(
  config: KeyConfig,
  environment: Environment,
  database: Database,
  log: Logger,
  given?: MasterKeys,
): Promise<OpenedKeys> {
  const keys = given ?? (await readMasterKeys(config, environment));
  const first = keys.current ?? keys.next ?? (await makeOwnKey(config, database, log));
  const known = [first, ...(keys.next ? [keys.next] : [])];
  const keyRing = openKeyRing(known, config, environment, log);
  await openVault(database, keyRing, first);
  return { keys: known, keyRing };
}

async function makeOwnKey(config: KeyConfig, database: Database, log: Logger): Promise<MasterKey> {
  const path = masterKeyPaths(config.dataDir).current;
  const needed = await findVaultKeyId(database);
  if (needed !== undefined) {
    // Another process may have made it, and opened the vault with it, since this one looked.
    const made = await readMasterKeyFile(path, DEFAULT_FILE);
    if (made) return made;
    throw new ConfigError(
      `${path} is missing, and the vault is encrypted under the master key that was in it (id ${needed}): put it back from your copy; a new one would not open what is stored`,
    );
  }
  const key = await placeMasterKey(path, MasterKey.generate(), DEFAULT_FILE);
  log.info(
    { event: 'vault.master_key_created', path, master_key_id: key.id },
    'master key of the vault created; keep a copy of it elsewhere',
  );
  return key;
}
