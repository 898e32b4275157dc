import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createKeyRing, type KeyRing, MASTER_KEY_IN_WORDS, MasterKey } from '@gatehouse/store';
import type { Logger } from 'pino';
import type { DatabaseConfig } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { type MasterKeySources, masterKeySettings } from '../config/master-key-settings.ts';
import { masterKeyPaths, readMasterKeyFile } from './master-key-file.ts';

// Where the master keys come from. What they must be the keys of is in master-key.ts.

export type Environment = Readonly<Record<string, string | undefined>>;
export type KeyConfig = MasterKeySources & Pick<DatabaseConfig, 'dataDir' | 'databaseUrl'>;

/** The keys that there are. */
export interface MasterKeys {
  /** Undefined for an embedded installation that has not made one yet. */
  readonly current: MasterKey | undefined;
  /** The one to rotate to, if there is one. */
  readonly next: MasterKey | undefined;
}

/** The name in messages for the key file of an installation that was given no key. */
export const DEFAULT_FILE = 'the master key of DATA_DIR';

/** True if the key is in a file of the installation's own, because none was given. */
export function keepsOwnKey(config: KeyConfig): boolean {
  const { databaseUrl, masterKey, masterKeyFile, masterKeyCommand } = config;
  return [databaseUrl, masterKey, masterKeyFile, masterKeyCommand].every((args) => args === undefined);
}

/** Reads the keys from wherever they come from. Throws ConfigError for a source that gives none. */
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

/** A ring that starts with these keys and reads the sources again when a key is asked for that it does not have. */
export function openKeyRing(
  keys: readonly MasterKey[],
  config: KeyConfig,
  environment: Environment,
  log: Logger,
): KeyRing {
  return createKeyRing({
    keys,
    reload: async () => {
      const { current, next } = await readMasterKeys(config, environment);
      return [current, next].filter((key) => key !== undefined);
    },
    onError: (error) =>
      log.error({ event: 'vault.master_key_reload_failed', err: error }, 'master keys could not be reloaded'),
    monotonicMs: () => performance.now(),
  });
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
  if (!found) throw new ConfigError(`${name} is ${JSON.stringify(path)}, which is not there`);
  return found;
}

const COMMAND_TIMEOUT_MS = 30_000;
const MAX_OUTPUT_BYTES = 64 * 1024;

const run = promisify(execFile);

/** The output of the command. An error never includes the output: it may be the key. */
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
    maxBuffer: MAX_OUTPUT_BYTES,
    shell: false,
  });
  running.child.stdin?.end();
  const { stdout } = await running.catch((error: NodeJS.ErrnoException & { killed?: boolean }) => {
    const why = error.killed
      ? `did not end within ${COMMAND_TIMEOUT_MS / 1000} s`
      : typeof error.code === 'number'
        ? `ended with the exit code ${error.code}`
        : `could not be run (${error.code ?? 'killed'})`;
    throw new ConfigError(`the command in ${setting} ${why}`);
  });
  const key = MasterKey.fromText(stdout);
  if (key) return key;
  throw new ConfigError(`the command in ${setting} printed something else; expected ${MASTER_KEY_IN_WORDS}`);
}
