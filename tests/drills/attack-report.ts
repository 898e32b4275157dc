import type { ProcessorTime } from './attack-processor.ts';
import { type Felt, nothingFelt } from './attack-victim.ts';

// The figures of an attack as a row of a table, with two ratios for each side. That of all rounds is their p99 under the attack
// to the p99 of all quiet measurements of the run. That of a round is of that round alone, to the quiet measurements right before
// and after it, because the speed of a machine varies: the row has the median of the rounds, with the lowest and the highest.

/** The limit for a neighbour's p99 of all rounds: so many times the quiet p99, and so much more. */
const TIMES_QUIET = 3;
const MORE_MS = 50;

export const TABLE_HEAD = [
  '| | p99 to quiet p99, API | gateway | within | API p50, p99 ms | gateway p50, p99 ms | agent p50, p99 ms | not 200 | late p99 ms | processors | peak MiB | journal MiB |\n',
  '|---|---|---|---|---|---|---|---|---|---|---|---|\n',
].join('');

export interface Round {
  readonly felt: Felt;
  /** Right before and right after. */
  readonly quiet: Felt;
}

export interface Row {
  readonly name: string;
  readonly rounds: readonly Round[];
  /** How many processors each part used, on average. */
  readonly processors: ReadonlyMap<string, ProcessorTime>;
  readonly residentMb: ReadonlyMap<string, number>;
  readonly journalMb: number;
}

type Side = 'apiMs' | 'gatewayMs' | 'agentMs';

/** The ratio of each round, ascending. */
export function ratiosOf(rounds: readonly Round[], side: Side): number[] {
  return rounds
    .map(({ felt, quiet }) => at(felt[side], 0.99) / at(quiet[side], 0.99))
    .toSorted((a, b) => a - b);
}

export function median(ascending: readonly number[]): number {
  const middle = ascending.length / 2;
  const [below, above] = [ascending[Math.ceil(middle) - 1], ascending[Math.floor(middle)]];
  return ((below ?? Number.NaN) + (above ?? Number.NaN)) / 2;
}

/** `quiet` is all that was measured while nothing attacked. */
export function rowOf({ name, rounds, processors, residentMb, journalMb }: Row, quiet: Felt): string {
  const felt = together(rounds.map((round) => round.felt));
  const ratios = (['apiMs', 'gatewayMs'] as const).map((side) => ({
    ofAll: at(felt[side], 0.99) / at(quiet[side], 0.99),
    ofRounds: ratiosOf(rounds, side),
  }));
  const isSlow = (side: Side) => at(felt[side], 0.99) > TIMES_QUIET * at(quiet[side], 0.99) + MORE_MS;
  const isWithin = felt.failures.size === 0 && !(['apiMs', 'gatewayMs', 'agentMs'] as const).some(isSlow);
  const cells = [
    name,
    ...ratios.map(({ ofAll, ofRounds }) => `${ofAll.toFixed(1)}; ${ratiosText(ofRounds)}`),
    isWithin ? 'yes' : 'NO',
    ...feltCells(felt),
    [...processors].map(processorText).filter(Boolean).join(', '),
    [...residentMb].map(([part, mb]) => `${part} ${mb.toFixed(0)}`).join(', '),
    journalMb.toFixed(1),
  ];
  return `| ${cells.join(' | ')} |\n`;
}

/** All quiet measurements together. */
export function quietRowOf(quiet: Felt): string {
  return `| ${['quiet', '1', '1', '', ...feltCells(quiet), '', '', ''].join(' | ')} |\n`;
}

/** All measurements as one. */
export function together(felt: readonly Felt[]): Felt {
  const all = nothingFelt();
  for (const { apiMs, gatewayMs, agentMs, lateMs, failures } of felt) {
    all.apiMs.push(...apiMs);
    all.gatewayMs.push(...gatewayMs);
    all.agentMs.push(...agentMs);
    all.lateMs.push(...lateMs);
    for (const [status, count] of failures) all.failures.set(status, (all.failures.get(status) ?? 0) + count);
  }
  return all;
}

function feltCells({ apiMs, gatewayMs, agentMs, lateMs, failures }: Felt): string[] {
  const other = [...failures].map(([status, count]) => `${count} x ${status}`);
  return [
    figuresOf(apiMs),
    figuresOf(gatewayMs),
    figuresOf(agentMs),
    `${other.join(', ') || 'none'} of ${apiMs.length + gatewayMs.length + agentMs.length}`,
    at(lateMs, 0.99).toFixed(1),
  ];
}

function ratiosText(ascending: readonly number[]): string {
  const [lowest, highest] = [ascending.at(0), ascending.at(-1)].map((one) => (one ?? Number.NaN).toFixed(1));
  return `${median(ascending).toFixed(1)} (${lowest} to ${highest})`;
}

function processorText([part, { usual, lowered }]: readonly [string, ProcessorTime]): string {
  if (usual + lowered < 0.01) return '';
  return `${part} ${usual.toFixed(2)}${lowered < 0.01 ? '' : ` + ${lowered.toFixed(2)} lowered`}`;
}

function figuresOf(values: readonly number[]): string {
  return `${at(values, 0.5).toFixed(1)}, ${at(values, 0.99).toFixed(1)}`;
}

function at(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN;
}
