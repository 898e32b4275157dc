import { parseArgs } from 'node:util';
import type { Command, Input } from './command.ts';
import { UsageError } from './errors.ts';
import { commandHelp, groupHelp, overallHelp, usageOf } from './help.ts';
import { nearest } from './nearest.ts';

/** The request of a command line. */
export type Invocation =
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'version' }
  | {
      readonly kind: 'run';
      readonly command: Command;
      readonly args: Readonly<Record<string, string | undefined>>;
      readonly isJson: boolean;
    };

/** The commands, and what each group of them is about. */
export interface Commands {
  readonly groups: Readonly<Record<string, string>>;
  readonly commands: readonly Command[];
}

const FLAGS = {
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const;

/** Reads a command line. Throws UsageError for the first thing in it that is wrong. */
export function readCommandLine(words: readonly string[], table: Commands): Invocation {
  const { words: commandWords, options, flags } = asFlag(split(words, table));
  const { command, group, rest } = findCommand(commandWords, table, flags);
  if (!command) {
    const unexpected = options[0]?.rawName ?? (flags.has('json') ? '--json' : undefined);
    if (unexpected !== undefined) {
      throw new UsageError(
        `${JSON.stringify(unexpected)} is not accepted here; expected --help, --version or a command: ${firstWords(table)}`,
        group,
      );
    }
    if (flags.has('help')) {
      return { kind: 'help', text: group === undefined ? overallHelp(table) : groupHelp(group, table) };
    }
    if (flags.has('version')) return { kind: 'version' };
    throw new UsageError(`a command is needed: ${firstWords(table)}`);
  }
  const args = { ...readOptions(options, command), ...readArguments(rest, command) };
  if (flags.has('help')) return { kind: 'help', text: commandHelp(command) };
  if (flags.has('version')) return { kind: 'version' };
  requireInputs(command, args);
  return { kind: 'run', command, args, isJson: flags.has('json') };
}

/** `gatehouse help org deposit` asks for what `gatehouse org deposit --help` does. */
function asFlag({ words, options, flags }: Split): Split {
  if (words[0] !== 'help') return { words, options, flags };
  return { words: words.slice(1), options, flags: new Set([...flags, 'help']) };
}

interface Split {
  readonly words: readonly string[];
  readonly options: readonly OptionToken[];
  readonly flags: ReadonlySet<string>;
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly isInline: boolean;
}

/** Tells words, options with a value and flags apart. All commands' options are known here, so they may stand anywhere. */
function split(args: readonly string[], { commands }: Commands): Split {
  const named = commands.flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([name, { kind }]) => {
      if (kind === 'argument') return [];
      return [[name, { type: kind === 'flag' ? 'boolean' : 'string' }] as const];
    }),
  );
  const { tokens } = parseArgs({
    args: [...args],
    allowPositionals: true,
    // Its own refusals would not say what is accepted.
    strict: false,
    tokens: true,
    options: { ...Object.fromEntries(named), ...FLAGS },
  });
  const words: string[] = [];
  const options: OptionToken[] = [];
  const flags = new Set<string>();
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    if (!Object.hasOwn(FLAGS, name)) {
      options.push({ name, rawName, value, isInline: inlineValue ?? false });
    } else if (value === undefined) {
      flags.add(name);
    } else {
      throw new UsageError(`${rawName} takes no value`);
    }
  }
  return { words, options, flags };
}

interface Found {
  readonly command?: Command;
  /** The group for which help was asked as a whole. */
  readonly group?: string;
  /** The words that are left for the command. */
  readonly rest: readonly string[];
}

function findCommand(words: readonly string[], table: Commands, flags: ReadonlySet<string>): Found {
  const { commands, groups } = table;
  const [first, second] = words;
  if (first === undefined) return { rest: [] };
  const alone = commands.find(({ name }) => name === first);
  if (alone) return { command: alone, rest: words.slice(1) };
  if (!Object.hasOwn(groups, first)) {
    throw new UsageError(
      `there is no command ${JSON.stringify(first)}; ${suggestion(first, [...firstWordsOf(table), 'help'])}there are ${firstWords(table)}`,
    );
  }
  if (second === undefined && flags.has('help')) return { group: first, rest: [] };
  const command = commands.find(({ name }) => name === `${first} ${second}`);
  if (command) return { command, rest: words.slice(2) };
  const known = commands
    .filter(({ name }) => name.startsWith(`${first} `))
    .map(({ name }) => name.slice(first.length + 1));
  throw new UsageError(
    second === undefined
      ? `gatehouse ${first} needs one more word: ${known.join(', ')}`
      : `there is no command ${JSON.stringify(`${first} ${second}`)}; ${suggestion(second, known)}gatehouse ${first} has ${known.join(', ')}`,
    first,
  );
}

function firstWordsOf({ commands }: Commands): string[] {
  return [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))];
}

function firstWords(table: Commands): string {
  return firstWordsOf(table).join(', ');
}

/** `did you mean "deposit"? `, or nothing. */
function suggestion(word: string, known: readonly string[]): string {
  // The dashes of options are no likeness.
  const meant = nearest(
    word.replace(/^--/, ''),
    known.map((one) => one.replace(/^--/, '')),
  );
  return meant === undefined
    ? ''
    : `did you mean ${JSON.stringify(word.startsWith('--') ? `--${meant}` : meant)}? `;
}

function readOptions(options: readonly OptionToken[], command: Command): Record<string, string> {
  const args: Record<string, string> = {};
  for (const { name, rawName, value, isInline } of options) {
    const input = Object.hasOwn(command.inputs, name) ? command.inputs[name] : undefined;
    if (!input || input.kind === 'argument') throw unknownOption(rawName, command);
    if (Object.hasOwn(args, name)) throw new UsageError(`${rawName} is given twice`, command.name);
    if (input.kind === 'flag') {
      if (value !== undefined) throw new UsageError(`${rawName} takes no value`, command.name);
      args[name] = '';
      continue;
    }
    // Taken for its value, the next option would be lost without a word.
    if (value === undefined || (!isInline && value.startsWith('--'))) {
      throw new UsageError(
        `${rawName} needs a value: ${input.placeholder} (one that begins with -- is written ${rawName}=--...)`,
        command.name,
      );
    }
    args[name] = value;
  }
  return args;
}

function unknownOption(rawName: string, command: Command): UsageError {
  const own = Object.entries(command.inputs).flatMap(([name, { kind }]) =>
    kind === 'argument' ? [] : `--${name}`,
  );
  const known = [...own, '--json', '--help'];
  return new UsageError(
    `gatehouse ${command.name} has no option ${JSON.stringify(rawName)}; ${suggestion(rawName, known)}it has ${known.join(', ')}`,
    command.name,
  );
}

function readArguments(words: readonly string[], command: Command): Record<string, string> {
  const expected = Object.entries(command.inputs).filter(([, { kind }]) => kind === 'argument');
  const surplus = words[expected.length];
  if (surplus !== undefined) {
    throw new UsageError(
      `${JSON.stringify(surplus)} is one word too many; expected ${usageOf(command)} (what holds spaces goes in quotes)`,
      command.name,
    );
  }
  return Object.fromEntries(
    words.map((word, index): [string, string] => [expected[index]?.[0] as string, word]),
  );
}

/** Throws UsageError for the first thing that the command cannot do without. */
function requireInputs(command: Command, args: Readonly<Record<string, string | undefined>>): void {
  const missing = Object.entries<Input>(command.inputs).find(
    ([name, { isRequired }]) => isRequired && args[name] === undefined,
  );
  if (!missing) return;
  const [name, { kind, placeholder, meaning }] = missing;
  throw new UsageError(
    `gatehouse ${command.name} needs ${kind === 'option' ? `--${name} ` : ''}${placeholder}, ${meaning}`,
    command.name,
  );
}
