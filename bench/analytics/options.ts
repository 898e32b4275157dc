import { parseArgs } from 'node:util';

export const STEPS = ['fill', 'reference', 'measure', 'report'] as const;
export type Step = (typeof STEPS)[number];

export interface Options {
  /** How many requests each store holds. */
  readonly sizes: readonly number[];
  /** The sizes that PostgreSQL is loaded with as well. */
  readonly referenceSizes: readonly number[];
  /** Kept between runs. Undefined: a temporary one. */
  readonly directory: string | undefined;
  readonly rounds: number;
  /** A regular expression on the name of the query. */
  readonly only: RegExp;
  readonly steps: ReadonlySet<Step>;
  /** Measures lines again that the directory has results for. */
  readonly again: boolean;
}

/** Reads the command line. Throws an Error that says what was wrong. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rows: { type: 'string', default: '1000000,10000000,50000000' },
      'reference-rows': { type: 'string', default: '1000000,10000000' },
      reference: { type: 'string', default: 'postgres' },
      dir: { type: 'string' },
      rounds: { type: 'string', default: '30' },
      only: { type: 'string', default: '' },
      steps: { type: 'string', default: STEPS.join(',') },
      again: { type: 'boolean', default: false },
    },
  });
  if (values.reference !== 'postgres' && values.reference !== 'none')
    throw new Error(`--reference is postgres or none, not ${values.reference}`);
  const sizes = numbers('--rows', values.rows);
  const referenceSizes =
    values.reference === 'none' ? [] : numbers('--reference-rows', values['reference-rows']);
  const [rounds = 0] = numbers('--rounds', values.rounds);
  return {
    sizes,
    referenceSizes: referenceSizes.filter((size) => sizes.includes(size)),
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
