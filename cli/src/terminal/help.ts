import { type Command, type Input, JSON_MEANING } from './command.ts';
import type { Commands } from './command-line.ts';

const JSON_ROW = ['--json', JSON_MEANING] as const;
const HELP_ROW = ['--help, -h', 'show this'] as const;

/** How a command is written: `gatehouse org deposit ORG --pkr AMOUNT [--note TEXT] [--yes]`. */
export function usageOf({ name, inputs }: Command): string {
  const parts = Object.entries(inputs).map(([key, { kind, placeholder, isRequired }]) => {
    const part = written(key, { kind, placeholder });
    return isRequired ? part : `[${part}]`;
  });
  return ['gatehouse', name, ...parts].join(' ');
}

function written(key: string, { kind, placeholder }: Pick<Input, 'kind' | 'placeholder'>): string {
  return kind === 'argument' ? placeholder : `--${key} ${placeholder}`.trimEnd();
}

export function commandHelp(command: Command): string {
  const { name, summary, details, jsonMeaning, inputs, examples } = command;
  const rows = (areArguments: boolean) =>
    Object.entries(inputs)
      .filter(([, { kind }]) => (kind === 'argument') === areArguments)
      .map(([key, input]): [string, string] => [
        written(key, input),
        input.kind === 'option' && input.isRequired ? `${input.meaning} (required)` : input.meaning,
      ]);
  return sections(
    `gatehouse ${name}: ${summary}`,
    ['Usage', [usageOf(command)]],
    ['Arguments', columns(rows(true))],
    ['Options', columns([...rows(false), ['--json', jsonMeaning], HELP_ROW])],
    ...details.map((paragraph): Section => [undefined, wrapped(paragraph)]),
    ['Examples', examples],
  );
}

export function groupHelp(group: string, { groups, commands }: Commands): string {
  const own = commands.filter(({ name }) => name.startsWith(`${group} `));
  return sections(
    `gatehouse ${group}: ${groups[group]}`,
    ['Usage', columns(own.map(row))],
    ['Options', columns([JSON_ROW, ['--help, -h', 'show this, or the help of one command']])],
    ['Examples', own.flatMap(({ examples }) => examples.slice(0, 1))],
  );
}

export function overallHelp({ groups, commands }: Commands): string {
  const alone = commands.filter(({ name }) => !name.includes(' '));
  return sections(
    'gatehouse: the control plane of an LLM inference gateway, with the gateway itself',
    ['Run it', columns(alone.map(row), WIDEST)],
    ...Object.entries(groups).map(
      ([group, about]): Section => [
        `${about.charAt(0).toUpperCase()}${about.slice(1)}`,
        columns(commands.filter(({ name }) => name.startsWith(`${group} `)).map(row), WIDEST),
      ],
    ),
    [
      'Options',
      columns([
        JSON_ROW,
        ['--help, -h', 'show this, or the help of one command; so does gatehouse help org deposit'],
        ['--version, -v', 'show the version'],
      ]),
    ],
    [
      undefined,
      wrapped(
        'Settings come from the environment, or from a file named .env in the working directory; docs/configuration.md has them all. All commands but start and connect work on the database itself, whether or not the service runs; docs/operator-commands.md tells more.',
      ),
    ],
    ['Examples', alone.flatMap(({ examples }) => examples)],
  );
}

type Section = readonly [title: string | undefined, lines: readonly string[]];

function sections(first: string, ...rest: readonly Section[]): string {
  const blocks = rest
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) =>
      title === undefined ? lines.join('\n') : [title, ...lines.map((line) => `  ${line}`)].join('\n'),
    );
  return `${[first, ...blocks].join('\n\n')}\n`;
}

function row(command: Command): [string, string] {
  return [usageOf(command), command.summary];
}

const WIDEST = 42;

/** A text too wide for one line goes under what it belongs to. */
function columns(rows: readonly (readonly [string, string])[], least = 0): string[] {
  const width = Math.max(least, ...rows.map(([left]) => left.length).filter((length) => length <= WIDEST));
  return rows.flatMap(([left, right]) =>
    left.length > width ? [left, `${' '.repeat(width)}  ${right}`] : [`${left.padEnd(width)}  ${right}`],
  );
}

const LINE = 90;

function wrapped(paragraph: string): string[] {
  const lines: string[] = [];
  for (const word of paragraph.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > LINE) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
