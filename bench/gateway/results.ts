import type { CpuTimes, Part } from './cpu.ts';
import type { LoadResult } from './load.ts';
import type { Kind } from './options.ts';

/** One subject under one load, over all rounds. */
export interface Cell {
  readonly kind: Kind;
  readonly connections: number;
  readonly subject: string;
  readonly rounds: readonly LoadResult[];
  /** CPU time of each round; empty for the provider. */
  readonly cpu: readonly CpuTimes[];
}

export const PROVIDER = 'provider';

/** The medians of a cell; times in milliseconds. */
export interface Figures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Until the first event of a stream; NaN for JSON. */
  readonly firstP50Ms: number;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [below, above] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[middle]];
  return below === undefined || above === undefined ? Number.NaN : (below + above) / 2;
}

export function figuresOf({ rounds }: Cell): Figures {
  const of = (figure: (result: LoadResult) => number) => median(rounds.map(figure));
  return {
    perSecond: of(({ answers, seconds }) => answers / seconds),
    p50Ms: of(({ p50 }) => p50 / 1000),
    p99Ms: of(({ p99 }) => p99 / 1000),
    firstP50Ms: of(({ firstP50 = Number.NaN }) => firstP50 / 1000),
  };
}

/** CPU time per request in microseconds; NaN where it was not measured. */
export function cpuPerRequest({ rounds, cpu }: Cell, part: Part): number {
  return median(
    cpu.map((times, index) => {
      const { answers = 0, whole = answers } = rounds[index] ?? {};
      return whole === 0 ? Number.NaN : (times.get(part) ?? 0) / whole;
    }),
  );
}

export class Results {
  readonly cells: readonly Cell[];

  constructor(cells: readonly Cell[]) {
    this.cells = cells;
  }

  cell(kind: Kind, connections: number, subject: string): Cell | undefined {
    return this.cells.find(
      (cell) => cell.kind === kind && cell.connections === connections && cell.subject === subject,
    );
  }

  /** Undefined where it was not measured. */
  figures(kind: Kind, connections: number, subject: string): Figures | undefined {
    const cell = this.cell(kind, connections, subject);
    return cell && figuresOf(cell);
  }

  /** The subjects in the order in which they were measured. */
  get subjects(): string[] {
    return [...new Set(this.cells.map(({ subject }) => subject))];
  }

  /** The Gatehouse services among them, in the order of their processes. */
  get gatehouses(): string[] {
    return this.subjects.filter((name) => name.startsWith('Gatehouse'));
  }
}
