import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { DRILLS, type DrillEntry } from './table.ts';

const USAGE = 'npm run drill -- NAME [--cycles N] [--seed S] [--only PART]';

/** A command that names no drill, or one with options that it does not have. */
export class UsageError extends Error {}

export interface DrillCommand {
  readonly entry: DrillEntry;
  readonly cycles: number;
  readonly seed: number;
  /** Undefined for all of it. */
  readonly only: string | undefined;
}

/** Undefined when no drill is named. Throws UsageError. */
export function readDrillCommand(args: readonly string[]): DrillCommand | undefined {
  const { values, positionals } = parse(args);
  const [name, ...rest] = positionals;
  if (name === undefined) return undefined;
  if (rest.length > 0) throw new UsageError(`One drill at a time: ${USAGE}`);
  const entry = DRILLS.find((one) => one.name === name);
  const names = DRILLS.map((one) => one.name).join(', ');
  if (entry === undefined) throw new UsageError(`There is no drill ${name}. The drills are: ${names}.`);
  if (values.seed !== undefined && !entry.isSeeded)
    throw new UsageError(`The drill ${name} has no seed: leave --seed out.`);
  const { only } = values;
  if (only !== undefined && !entry.parts?.includes(only))
    throw new UsageError(
      `The drill ${name} has no part ${only}. Its parts are: ${entry.parts?.join(', ') ?? 'none'}.`,
    );
  return {
    entry,
    only,
    cycles: values.cycles === undefined ? entry.cycles.count : wholeNumber('cycles', values.cycles, 1),
    seed: values.seed === undefined ? randomInt(1_000_000) : wholeNumber('seed', values.seed, 0),
  };
}

/** All drills, with what they take. */
export function listDrills(): string {
  const width = Math.max(...DRILLS.map(({ name }) => name.length));
  const indent = ' '.repeat(width + 4);
  const lines = DRILLS.map(({ name, about, cycles, duration, isSeeded, parts }) => {
    const options = `--cycles ${cycles.count} (${cycles.of})${isSeeded ? ', --seed' : ''}${parts ? ', --only' : ''}`;
    return `  ${name.padEnd(width)}  ${about}\n${indent}${duration}; ${options}`;
  });
  return `${USAGE}\n\n${lines.join('\n')}`;
}

function parse(args: readonly string[]) {
  const options = { cycles: { type: 'string' }, seed: { type: 'string' }, only: { type: 'string' } } as const;
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function wholeNumber(name: string, text: string, least: number): number {
  const value = Number(text);
  if (!/^\d{1,9}$/.test(text) || value < least)
    throw new UsageError(`--${name} is ${text}; it must be a whole number of at least ${least}`);
  return value;
}
