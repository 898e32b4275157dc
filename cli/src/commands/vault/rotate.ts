import {
  findVaultKeyId,
  type Rotation,
  rotateVault,
  type SkippedRecord,
} from '@gatehouse/control-plane/vault';
import { type Database, fixedKeyRing, MasterKey } from '@gatehouse/store';
import { readVaultConfig, type VaultConfig } from '../../config/vault-config.ts';
import type { Context } from '../../terminal/command.ts';
import { CommandError } from '../../terminal/errors.ts';
import { print, warn } from '../../terminal/output.ts';
import {
  masterKeyPaths,
  placeMasterKey,
  readMasterKeyFile,
  replaceMasterKey,
} from '../../vault/master-key-file.ts';
import { keepsOwnKey, readMasterKeys } from '../../vault/master-key-sources.ts';
import { withDatabase } from '../database.ts';

const NEW_KEY_FILE = '--new-key-file';

export function rotateMasterKey(newKeyFile: string | undefined, context: Context): Promise<number> {
  const environment = context.environment();
  const config = readVaultConfig(environment);
  return withDatabase(context, async (database) => {
    const { current, next } = await readMasterKeys(config, environment);
    const requested = newKeyFile === undefined ? next : await readGivenFile(newKeyFile);
    // Before anything is put anywhere.
    await requireCurrent(database, [current, next, requested]);
    const newKey = keepsOwnKey(config) ? await placeNext(config, requested) : requested;
    if (!newKey) {
      throw new CommandError(
        'no new master key is given: set GATEHOUSE_NEW_MASTER_KEY, or its _FILE or _COMMAND, for every process of the service, restart them, and run this with the same settings',
      );
    }
    const rotation = await rotate(database, [current, next, newKey], newKey, context);
    if (keepsOwnKey(config) && rotation.skipped.length === 0) await replaceMasterKey(config.dataDir);
    report(rotation, keepsOwnKey(config), context);
    return rotation.skipped.length === 0 ? 0 : 1;
  });
}

function rotate(
  database: Database,
  keys: readonly (MasterKey | undefined)[],
  newKey: MasterKey,
  context: Context,
): Promise<Rotation> {
  return rotateVault({
    database,
    keyRing: fixedKeyRing(keys.filter((key) => key !== undefined)),
    newKey,
    onProgress: (rewrapped) => {
      if (!context.isJson) context.out(`${rewrapped} records are under the new master key ...\n`);
    },
  });
}

async function requireCurrent(database: Database, keys: readonly (MasterKey | undefined)[]): Promise<void> {
  const needed = await findVaultKeyId(database);
  if (needed === undefined) throw new CommandError('the vault was never opened: start the service once');
  if (keys.some((key) => key?.id === needed)) return;
  throw new CommandError(
    `the master key that the vault is encrypted under (id ${needed}) is not at hand; nothing was changed`,
  );
}

async function readGivenFile(path: string): Promise<MasterKey> {
  const key = await readMasterKeyFile(path, NEW_KEY_FILE);
  if (key) return key;
  throw new CommandError(`${NEW_KEY_FILE} is ${JSON.stringify(path)}, which is not there`);
}

/** The next key in its file, on the disk before anything is under it. One that is there already is taken up again. */
async function placeNext(config: VaultConfig, requested: MasterKey | undefined): Promise<MasterKey> {
  const { next } = masterKeyPaths(config.dataDir);
  const placed = await placeMasterKey(
    next,
    requested ?? MasterKey.generate(),
    'the new master key of DATA_DIR',
  );
  if (!requested || requested.id === placed.id) return placed;
  throw new CommandError(
    `a rotation to another key (id ${placed.id}, in ${next}) is under way: finish it first, by gatehouse vault rotate alone`,
  );
}

function report(rotation: Rotation, keepsOwn: boolean, context: Context): void {
  const { masterKeyId, rewrapped, records, skipped } = rotation;
  for (const { organizationId, provider, reason } of skipped) {
    warn(context, `the key of the organisation ${organizationId} for ${provider} stays behind: ${reason}`);
  }
  print(
    context,
    { master_key_id: masterKeyId, rewrapped, records, left_behind: skipped.map(skippedDocument) },
    [
      `${rewrapped === 1 ? '1 record was' : `${rewrapped} records were`} put under the master key with the id ${masterKeyId}; ${records - skipped.length} of ${records} are under it.`,
      ...(skipped.length > 0
        ? [
            'The old master key is still needed. Let their members store these keys again, or remove them, and run this again.',
          ]
        : [
            keepsOwn
              ? 'It is in DATA_DIR/master.key now: keep a copy of it elsewhere. Backups from before need the old one.'
              : 'Nothing is under the old one any more: put the new one in its place in the settings of every process. Backups from before need the old one.',
          ]),
    ],
  );
}

function skippedDocument({ organizationId, provider, reason }: SkippedRecord) {
  return { organization_id: organizationId, provider, reason };
}
