import { parseArgs } from 'node:util';

export const KINDS = ['json', 'sse'] as const;
export type Kind = (typeof KINDS)[number];

export const REFERENCES = ['nginx', 'portkey', 'node', 'node-postgres'] as const;
export type Reference = (typeof REFERENCES)[number];

export interface Options {
  /** How long each subject is loaded in a round. wrk takes whole seconds. */
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: readonly number[];
  readonly kinds: readonly Kind[];
  /** The programs that are measured beside Gatehouse and the provider. */
  readonly references: readonly Reference[];
  /** GATEWAY_PROCESSES of each Gatehouse that is measured. */
  readonly processes: readonly number[];
  readonly markdown: boolean;
}

export const HELP = `node bench/gateway/main.ts [options]

  --seconds N          how long each is loaded in a round, in whole seconds (2)
  --rounds N           alternating rounds; the figures are medians (3)
  --connections LIST   1,16,64,256
  --only json|sse      one kind of answer instead of both
  --processes LIST     GATEWAY_PROCESSES of Gatehouse, such as 1,2 to measure two services (1)
  --without LIST       leaves out references: nginx, portkey, node, node-postgres; the provider needs nginx all the same
  --quick              about two minutes: 1 second, 2 rounds, 1 and 64 connections
  --markdown           prints the tables as the documentation has them
`;

/** Reads the command line; undefined when it asks for help. Throws an Error that says what was wrong. */
export function readOptions(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      connections: { type: 'string' },
      only: { type: 'string' },
      processes: { type: 'string', default: '1' },
      without: { type: 'string', default: '' },
      quick: { type: 'boolean', default: false },
      markdown: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const usual = values.quick
    ? { seconds: '1', rounds: '2', connections: '1,64' }
    : { seconds: '2', rounds: '3', connections: '1,16,64,256' };
  const without = values.without
    .split(',')
    .filter(Boolean)
    .map((name) => oneOf('--without', REFERENCES, name));
  return {
    seconds: wholeIn('--seconds', values.seconds ?? usual.seconds, 1, 600),
    rounds: wholeIn('--rounds', values.rounds ?? usual.rounds, 1, 99),
    connections: listOf('--connections', values.connections ?? usual.connections, 1_000),
    kinds: values.only === undefined ? KINDS : [oneOf('--only', KINDS, values.only)],
    references: REFERENCES.filter((name) => !without.includes(name)),
    processes: listOf('--processes', values.processes, 64),
    markdown: values.markdown,
  };
}

/** The time of the warm-up, in rounds. */
export const WARM_UP = 2;

/** How long the run takes about, in seconds. */
export function estimate({ seconds, rounds, connections, kinds, references, processes }: Options): number {
  const subjects = 1 + references.length + processes.length;
  const START = 25;
  const BETWEEN = 0.4;
  return (
    START + kinds.length * subjects * (WARM_UP * seconds + rounds * connections.length * (seconds + BETWEEN))
  );
}

function wholeIn(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (text !== '' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw new Error(`${name} takes whole numbers from ${least} to ${most}, not ${text || 'nothing'}`);
}

const listOf = (name: string, text: string, most: number) =>
  [...new Set(text.split(',').map((part) => wholeIn(name, part, 1, most)))].sort((a, b) => a - b);

function oneOf<T extends string>(name: string, known: readonly T[], text: string): T {
  const found = known.find((one) => one === text);
  if (found !== undefined) return found;
  throw new Error(`${name} takes ${known.join(' or ')}, not ${text}`);
}
