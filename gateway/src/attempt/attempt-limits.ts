import type { Timers } from '@gatehouse/concurrency';
import { type AttemptState, next } from './attempt-state.ts';
import { MAX_HELD_MS } from './held-stream.ts';
import { READ_ON_MS } from './read-on.ts';

/** How long a provider that keeps its connection open is listened to after its end mark, where it has not said its usage. */
export const MAX_LATE_USAGE_MS = 250;

const LIMITS = ['time_limit', 'content_limit', 'held_limit', 'usage_limit', 'read_on_limit'] as const;

export type AttemptLimit = (typeof LIMITS)[number];

export interface LimitTimes {
  /** The rest of the route's time. */
  readonly timeoutMs: number;
  /** To the first content; undefined where nothing but the route's time limit bounds it. */
  readonly contentTimeoutMs: number | undefined;
}

/** The time limits of one attempt. Each runs in the states in which its end changes something (attempt-state.ts), and in no other. */
export class RunningLimits {
  readonly #timers: Timers;
  readonly #times: Readonly<Record<AttemptLimit, number | undefined>>;
  readonly #onLimit: (limit: AttemptLimit) => void;
  readonly #running = new Map<AttemptLimit, () => void>();

  constructor(
    timers: Timers,
    { timeoutMs, contentTimeoutMs }: LimitTimes,
    onLimit: (limit: AttemptLimit) => void,
  ) {
    this.#timers = timers;
    this.#onLimit = onLimit;
    this.#times = {
      time_limit: timeoutMs,
      content_limit: contentTimeoutMs,
      // Where the route does not say how long the first content may take.
      held_limit: contentTimeoutMs === undefined ? MAX_HELD_MS : undefined,
      usage_limit: MAX_LATE_USAGE_MS,
      read_on_limit: READ_ON_MS,
    };
  }

  /** Ends the limits that do not run in the state, and begins the others. */
  enter(state: AttemptState): void {
    for (const limit of LIMITS) {
      const cancel = this.#running.get(limit);
      const ms = this.#times[limit];
      if (next(state, limit)) {
        if (cancel === undefined && ms !== undefined)
          this.#running.set(
            limit,
            this.#timers.after(ms, () => this.#onLimit(limit)),
          );
      } else if (cancel) {
        cancel();
        this.#running.delete(limit);
      }
    }
  }
}
