import { parseArgs } from 'node:util';

export const STEPS = ['fill', 'peer', 'measure', 'report'] as const;
export type Step = (typeof STEPS)[number];

export interface Options {
  /** How many requests each store holds. */
  readonly sizes: readonly number[];
  /** Those of them that PostgreSQL is loaded with as well. */
  readonly peerSizes: readonly number[];
  /** Kept between runs; undefined: a temporary one. */
  readonly directory: string | undefined;
  readonly rounds: number;
  /** A regular expression on the name of the question. */
  readonly only: RegExp;
  readonly steps: ReadonlySet<Step>;
  /** Measures again what a kept folder has figures of. */
  readonly again: boolean;
}

/** Reads the command line. Throws an Error that says what was wrong. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rows: { type: 'string', default: '1000000,10000000,50000000' },
      'peer-rows': { type: 'string', default: '1000000,10000000' },
      peer: { type: 'string', default: 'postgres' },
      dir: { type: 'string' },
      rounds: { type: 'string', default: '30' },
      only: { type: 'string', default: '' },
      steps: { type: 'string', default: STEPS.join(',') },
      again: { type: 'boolean', default: false },
    },
  });
  if (values.peer !== 'postgres' && values.peer !== 'none')
    throw new Error(`--peer is postgres or none, not ${values.peer}`);
  const sizes = numbers('--rows', values.rows);
  const peerSizes = values.peer === 'none' ? [] : numbers('--peer-rows', values['peer-rows']);
  const [rounds = 0] = numbers('--rounds', values.rounds);
  return {
    sizes,
    peerSizes: peerSizes.filter((size) => sizes.includes(size)),
    directory: values.dir,
    rounds,
    only: new RegExp(values.only),
    steps: new Set(values.steps.split(',').map(step)),
    again: values.again,
  };
}

function numbers(name: string, text: string): number[] {
  return text.split(',').map((part) => {
    const value = Number(part.replaceAll('_', ''));
    if (Number.isSafeInteger(value) && value > 0) return value;
    throw new Error(`${name} takes positive integers with commas between, not ${text}`);
  });
}

function step(text: string): Step {
  const found = STEPS.find((known) => known === text);
  if (found) return found;
  throw new Error(`--steps takes some of ${STEPS.join(', ')}, not ${text}`);
}
