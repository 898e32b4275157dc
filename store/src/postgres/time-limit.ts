import { DatabaseUnavailable } from './errors.ts';

/** The time of a transaction. A server that answers each statement just in time could keep a caller waiting without end. */
export interface TimeLimit {
  /** Throws DatabaseUnavailable if it is over. */
  check(): void;
}

export const NO_LIMIT: TimeLimit = { check() {} };

/** One that begins now. */
export function startTimeLimit(ms: number | undefined): TimeLimit {
  if (ms === undefined) return NO_LIMIT;
  const endMs = performance.now() + ms;
  return {
    check() {
      if (performance.now() >= endMs) throw new DatabaseUnavailable('the transaction took too long');
    },
  };
}
