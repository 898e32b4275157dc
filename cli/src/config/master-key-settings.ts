import { MASTER_KEY_IN_WORDS, MasterKey } from '@gatehouse/store';
import { path, type Setting, setting as settingOf } from './setting.ts';

// The sources of the vault's master key, and of the next one during a rotation: the setting itself, a file, or a command.
// Only one of the three may be set for each key.

function setting<T>(
  name: string,
  meaning: string,
  form: {
    readonly expected: string;
    readonly fallbackText: string;
    readonly parse: (text: string) => T | undefined;
    readonly isSecret?: boolean;
  },
): Setting<T | undefined> {
  return settingOf<T | undefined>(name, meaning, { ...form, fallback: undefined });
}

/** The words of a command; undefined if it needs a shell, because it runs without one. */
function wordsOf(text: string): readonly string[] | undefined {
  return /['"`$\\|&;<>\0]/.test(text) ? undefined : text.trim().split(/\s+/);
}

const key = { expected: MASTER_KEY_IN_WORDS, isSecret: true, parse: MasterKey.fromText } as const;
const file = path;
const command = {
  expected: 'a program and its arguments, without quotes, variables or pipes',
  isSecret: true,
  parse: wordsOf,
} as const;
const otherwise = { fallbackText: 'see GATEHOUSE_MASTER_KEY' } as const;
const noRotation = { fallbackText: 'no rotation' } as const;

export const masterKeySettings = {
  masterKey: setting('GATEHOUSE_MASTER_KEY', 'The key that encrypts the vault.', {
    ...key,
    fallbackText:
      'created in `DATA_DIR/master.key` with the embedded database; with an external one, one of the three must be set',
  }),
  masterKeyFile: setting('GATEHOUSE_MASTER_KEY_FILE', 'The same, from a file.', { ...file, ...otherwise }),
  masterKeyCommand: setting('GATEHOUSE_MASTER_KEY_COMMAND', 'The same, from the output of a command.', {
    ...command,
    ...otherwise,
  }),
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

/** Two sources of one key, and a missing key that is required. */
export function masterKeyIssues(sources: Partial<MasterKeySources>, isRequired: boolean): string[] {
  const given = (...names: (keyof MasterKeySources)[]) =>
    names.filter((name) => sources[name] !== undefined).map((name) => masterKeySettings[name].name);
  const current = given('masterKey', 'masterKeyFile', 'masterKeyCommand');
  const next = given('newMasterKey', 'newMasterKeyFile', 'newMasterKeyCommand');
  return [
    ...[current, next].flatMap((names) =>
      names.length > 1 ? `${names.join(' and ')} are set; expected one of them` : [],
    ),
    ...(current.length === 0 && isRequired
      ? [
          `${masterKeySettings.masterKey.name} must be set with an external DATABASE_URL, or its _FILE or _COMMAND: every node needs the same key for the vault; expected ${MASTER_KEY_IN_WORDS}`,
        ]
      : []),
  ];
}
