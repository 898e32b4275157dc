import type { FloorPlan } from './floor.ts';
import type { PeerPlan } from './peer-queries.ts';
import type { Subject } from './subjects.ts';

/** A window that ends where the data does. */
export interface Window {
  /** As `time_range` has it. */
  readonly text: string;
  readonly days: number;
  readonly fromMicros: bigint;
  readonly toMicros: bigint;
}

/** What is asked about, the how-manieth time. */
export interface At {
  readonly subject: Subject;
  readonly window: Window;
  readonly round: number;
}

/** What an answer says, in a few figures: those of all three must agree before any is timed. */
export type Facts = readonly (string | number | null)[];

export type Kind = 'summary' | 'timeseries' | 'requests' | 'search' | 'keys';

/** A question in three ways: of the API, of the engine by hand, of PostgreSQL. */
export interface Question {
  readonly name: string;
  readonly kind: Kind;
  /** The windows that it is asked over, as `time_range` has them. */
  readonly windows: readonly string[];
  path(at: At): string;
  facts(body: unknown): Facts;
  /** The ways that could be the fastest; the one that is stands as the floor. */
  floor(at: At): readonly FloorPlan[];
  peer(at: At): PeerPlan;
}

/** One of several, another one each round. */
export function turn<T>(of: readonly T[], round: number): T {
  const found = of[round % of.length];
  if (found === undefined) throw new Error('there is nothing to choose from');
  return found;
}
