import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findVaultKeyId, openVault } from '@gatehouse/control-plane';
import { createKeyRing, type Database, type KeyRing, MASTER_KEY_IN_WORDS, MasterKey } from '@gatehouse/store';
import type { Logger } from 'pino';
import { ConfigFault, type DatabaseConfig } from './config.ts';
import { masterKeyPaths, placeMasterKey, readMasterKeyFile } from './master-key-file.ts';
import { type MasterKeySources, masterKeySettings } from './master-key-settings.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type KeyConfig = MasterKeySources & Pick<DatabaseConfig, 'dataDir' | 'databaseUrl'>;

/** The keys that there are. */
export interface MasterKeys {
  /** Undefined for an embedded installation that has not made one yet. */
  readonly current: MasterKey | undefined;
  /** The one to rotate to, if there is one. */
  readonly next: MasterKey | undefined;
}

const DEFAULT_FILE = 'the master key of DATA_DIR';

/** Whether the key is in a file of the installation's own, because none was given. */
export function keepsOwnKey(config: KeyConfig): boolean {
  const { databaseUrl, masterKey, masterKeyFile, masterKeyCommand } = config;
  return [databaseUrl, masterKey, masterKeyFile, masterKeyCommand].every((given) => given === undefined);
}

/** Reads the keys from wherever they come from. Throws ConfigFault for a source that gives none. */
export async function readMasterKeys(config: KeyConfig, environment: Environment): Promise<MasterKeys> {
  const current = await readSource(config, environment, 'masterKey', 'masterKeyFile', 'masterKeyCommand');
  const next = await readSource(
    config,
    environment,
    'newMasterKey',
    'newMasterKeyFile',
    'newMasterKeyCommand',
  );
  if (!keepsOwnKey(config)) return { current, next };
  const paths = masterKeyPaths(config.dataDir);
  // In this order: at its end a rotation gives the next one the name of the current one, and neither may be missed.
  const ownNext = await readMasterKeyFile(paths.next, DEFAULT_FILE);
  const own = await readMasterKeyFile(paths.current, DEFAULT_FILE);
  return { current: own, next: ownNext ?? next };
}

/**
 * The master keys of a service that starts, proven to be those that its vault is under. An embedded installation makes
 * its key here if it never had one. Throws ConfigFault or VaultRefused, and has changed nothing, when the key is
 * missing or wrong.
 */
export async function openMasterKeys(
  config: KeyConfig,
  environment: Environment,
  database: Database,
  log: Logger,
): Promise<KeyRing> {
  const keys = await readMasterKeys(config, environment);
  const first = keys.current ?? keys.next ?? (await makeOwnKey(config, database, log));
  const keyRing = createKeyRing({
    keys: [first, ...(keys.next ? [keys.next] : [])],
    reload: async () => {
      const { current, next } = await readMasterKeys(config, environment);
      return [current, next].filter((key) => key !== undefined);
    },
    onError: (error) => log.error({ err: error }, 'the master keys could not be read again'),
    monotonicMs: () => performance.now(),
  });
  await openVault(database, keyRing, first);
  return keyRing;
}

async function makeOwnKey(config: KeyConfig, database: Database, log: Logger): Promise<MasterKey> {
  const path = masterKeyPaths(config.dataDir).current;
  const needed = await findVaultKeyId(database);
  if (needed !== undefined) {
    // Another process may have made it, and opened the vault with it, since this one looked.
    const made = await readMasterKeyFile(path, DEFAULT_FILE);
    if (made) return made;
    throw new ConfigFault(
      `${path} is missing, and the vault is encrypted under the master key that was in it (id ${needed}): put it back from your copy; a new one would not open what is stored`,
    );
  }
  const key = await placeMasterKey(path, MasterKey.generate(), DEFAULT_FILE);
  log.info(
    { path, master_key_id: key.id },
    'the master key of the vault was made; keep a copy of it elsewhere',
  );
  return key;
}

async function readSource(
  config: KeyConfig,
  environment: Environment,
  asIs: 'masterKey' | 'newMasterKey',
  asFile: 'masterKeyFile' | 'newMasterKeyFile',
  asCommand: 'masterKeyCommand' | 'newMasterKeyCommand',
): Promise<MasterKey | undefined> {
  const [key, path, command] = [config[asIs], config[asFile], config[asCommand]];
  if (key) return key;
  if (command) return readCommand(command, environment, masterKeySettings[asCommand].name);
  if (path === undefined) return undefined;
  const { name } = masterKeySettings[asFile];
  const found = await readMasterKeyFile(path, name);
  if (!found) throw new ConfigFault(`${name} is ${JSON.stringify(path)}, which is not there`);
  return found;
}

const COMMAND_TIMEOUT_MS = 30_000;
const LARGEST_OUTPUT_BYTES = 64 * 1024;

const run = promisify(execFile);

/** What the command prints. Of a failure nothing is told that it printed: it may be the key. */
async function readCommand(
  [program = '', ...args]: readonly string[],
  environment: Environment,
  setting: string,
): Promise<MasterKey> {
  const running = run(program, args, {
    env: { ...environment },
    encoding: 'utf8',
    timeout: COMMAND_TIMEOUT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: LARGEST_OUTPUT_BYTES,
    shell: false,
  });
  running.child.stdin?.end();
  const { stdout } = await running.catch((error: NodeJS.ErrnoException & { killed?: boolean }) => {
    const why = error.killed
      ? `did not end within ${COMMAND_TIMEOUT_MS / 1000} s`
      : typeof error.code === 'number'
        ? `ended with the exit code ${error.code}`
        : `could not be run (${error.code ?? 'killed'})`;
    throw new ConfigFault(`the command in ${setting} ${why}`);
  });
  const key = MasterKey.fromText(stdout);
  if (key) return key;
  throw new ConfigFault(`the command in ${setting} printed something else; expected ${MASTER_KEY_IN_WORDS}`);
}
