import { availableParallelism } from 'node:os';

/** How many threads of one kind do work that can wait: at most two, and one core stays without them where there are two or more. */
export const BACKGROUND_THREADS = backgroundThreads(availableParallelism());

// A thread that has begun keeps its core for some milliseconds, whatever its priority, so lower priority alone does not
// keep a core free for requests.
export function backgroundThreads(cores: number): number {
  return Math.max(1, Math.min(2, cores - 1));
}
