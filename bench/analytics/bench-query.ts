import type { BaselinePlan } from './baseline.ts';
import type { ReferencePlan } from './reference-queries.ts';
import type { Subject } from './subjects.ts';

/** A window that ends where the data does. */
export interface Window {
  /** As `time_range` has it. */
  readonly text: string;
  readonly days: number;
  readonly fromMicros: bigint;
  readonly toMicros: bigint;
}

/** The subject of a query, and its round. */
export interface Target {
  readonly subject: Subject;
  readonly window: Window;
  readonly round: number;
}

/** An answer in a few figures. Those of all three must agree before any is timed. */
export type Facts = readonly (string | number | null)[];

export type Kind = 'summary' | 'timeseries' | 'requests' | 'search' | 'keys';

/** A query in three forms: for the API, by hand for the engine, for PostgreSQL. */
export interface BenchQuery {
  readonly name: string;
  readonly kind: Kind;
  /** Its windows, as `time_range` has them. */
  readonly windows: readonly string[];
  path(at: Target): string;
  facts(body: unknown): Facts;
  /** The forms that could be the fastest. The fastest is the baseline. */
  baseline(at: Target): readonly BaselinePlan[];
  reference(at: Target): ReferencePlan;
}

/** One of several, in turn by round. */
export function rotate<T>(of: readonly T[], round: number): T {
  const found = of[round % of.length];
  if (found === undefined) throw new Error('no values to rotate');
  return found;
}
