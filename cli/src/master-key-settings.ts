import { MASTER_KEY_IN_WORDS, MasterKey } from '@gatehouse/store';
import { ConfigError } from './config-error.ts';
import type { Setting } from './setting.ts';

// The sources of the vault's master key, and of the next one during a rotation: the setting itself, a file, or a command.
// Only one of the three may be set for each key.

function setting<T>(
  name: string,
  meaning: string,
  form: {
    expected: string;
    fallbackText: string;
    parse: (text: string) => T | undefined;
    isSecret?: boolean;
  },
): Setting<T | undefined> {
  return {
    name,
    meaning,
    expected: form.expected,
    fallbackText: form.fallbackText,
    isSecret: form.isSecret ?? false,
    read: (text) => (text === undefined ? undefined : form.parse(text)),
  };
}

/** The words of a command; undefined if it needs a shell, because it runs without one. */
function wordsOf(text: string): readonly string[] | undefined {
  return /['"`$\\|&;<>\0]/.test(text) ? undefined : text.trim().split(/\s+/);
}

const key = { expected: MASTER_KEY_IN_WORDS, isSecret: true, parse: MasterKey.fromText } as const;
const file = {
  expected: 'a path',
  parse: (text: string) => (text.includes('\0') ? undefined : text),
} as const;
const command = {
  expected: 'a program and its arguments, separated by blanks and without quotes, variables or pipes',
  isSecret: true,
  parse: wordsOf,
} as const;
const otherwise = { fallbackText: 'see GATEHOUSE_MASTER_KEY' } as const;
const noRotation = { fallbackText: 'no rotation' } as const;

export const masterKeySettings = {
  masterKey: setting('GATEHOUSE_MASTER_KEY', 'The key that the vault is encrypted under.', {
    ...key,
    fallbackText:
      'with the embedded database, created once and kept in `DATA_DIR/master.key`; must be set, in one of its three forms, with an external one',
  }),
  masterKeyFile: setting('GATEHOUSE_MASTER_KEY_FILE', 'The same, from a file.', { ...file, ...otherwise }),
  masterKeyCommand: setting(
    'GATEHOUSE_MASTER_KEY_COMMAND',
    'The same, from the output of a command. It runs without a shell, with the service’s environment, for at most 30 s.',
    { ...command, ...otherwise },
  ),
  newMasterKey: setting(
    'GATEHOUSE_NEW_MASTER_KEY',
    'During a rotation, the new master key. Every process needs both.',
    { ...key, ...noRotation },
  ),
  newMasterKeyFile: setting('GATEHOUSE_NEW_MASTER_KEY_FILE', 'The same, from a file.', {
    ...file,
    ...noRotation,
  }),
  newMasterKeyCommand: setting(
    'GATEHOUSE_NEW_MASTER_KEY_COMMAND',
    'The same, from the output of a command.',
    {
      ...command,
      ...noRotation,
    },
  ),
} satisfies Record<string, Setting<unknown>>;

/** The sources of both keys, as set. */
export type MasterKeySources = {
  readonly [Name in keyof typeof masterKeySettings]: ReturnType<(typeof masterKeySettings)[Name]['read']>;
};

/** Throws ConfigError for two sources of one key, and for a missing key that is required. */
export function requireMasterKey(sources: MasterKeySources, isEmbedded: boolean): void {
  const given = (...names: (keyof MasterKeySources)[]) =>
    names.filter((name) => sources[name] !== undefined).map((name) => masterKeySettings[name].name);
  const current = given('masterKey', 'masterKeyFile', 'masterKeyCommand');
  for (const names of [current, given('newMasterKey', 'newMasterKeyFile', 'newMasterKeyCommand')]) {
    if (names.length > 1) throw new ConfigError(`${names.join(' and ')} are set; expected one of them`);
  }
  if (current.length === 0 && !isEmbedded) {
    throw new ConfigError(
      `${masterKeySettings.masterKey.name} must be set with an external DATABASE_URL, or its _FILE or _COMMAND: every node needs the same key for the vault; expected ${MASTER_KEY_IN_WORDS}`,
    );
  }
}
