import type { SmallestBounds } from './smallest-json.ts';

/**
 * The most that the echo does for one request, however little the request says of it: a body of some kilobytes can ask for an answer
 * of any size. Work is bounded by what it is, and not by time: the same request has the same answer everywhere.
 */
export interface EchoBounds extends SmallestBounds {
  /** The characters of all choices of an answer together. */
  readonly characters: number;
  /** The numbers of all vectors of an answer together. */
  readonly numbers: number;
  /** True if what is beyond is cut or refused. Otherwise nothing is answered, and larger bounds are to be tried. */
  readonly isFinal: boolean;
}

/** The bounds on the main thread, which serves every caller: a few milliseconds. What needs more is done in a reader thread. */
export const SMALL_ECHO: EchoBounds = { characters: 1_024, steps: 1_000, numbers: 4_096, isFinal: false };
export const LARGE_ECHO: EchoBounds = { characters: 262_144, steps: 20_000, numbers: 524_288, isFinal: true };
