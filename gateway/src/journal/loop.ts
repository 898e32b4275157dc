import type { JournalClock } from './journal.ts';

/** The next call that a step asks for. Waking the loop ends a wait, but not a pause. */
export interface Next {
  readonly kind: 'pause' | 'wait';
  readonly ms: number;
}

/** Run the step again after so many milliseconds. */
export function pause(ms: number): Next {
  return { kind: 'pause', ms };
}

/** Run the step again when the loop is woken, or after so many milliseconds at the latest. */
export function waitForWake(ms: number = Number.POSITIVE_INFINITY): Next {
  return { kind: 'wait', ms };
}

export interface LoopOptions {
  readonly clock: JournalClock;
  /** One piece of the work. */
  readonly step: () => Promise<Next>;
  readonly firstPauseMs?: number;
  /** Called with what a step threw; returns the milliseconds until the next attempt. */
  readonly onError: (error: unknown) => number;
}

/** Runs a step again and again, never twice at once. A step that fails does not end it. */
export class Loop {
  readonly #options: LoopOptions;
  readonly #done: Promise<void>;
  #isStopped = false;
  #isWoken = false;
  #isWokenNow = false;
  #isWaiting = false;
  #endWait = new AbortController();

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#done = this.#run();
  }

  /** There is work: ends a wait. A pause goes on. */
  wake(): void {
    this.#isWoken = true;
    if (this.#isWaiting) this.#endWait.abort();
  }

  /** Ends waits and pauses alike: the step runs again at once. */
  wakeNow(): void {
    this.#isWoken = true;
    this.#isWokenNow = true;
    this.#endWait.abort();
  }

  /** Resolves when no step runs any more; one that is running finishes. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#endWait.abort();
    await this.#done;
  }

  async #run(): Promise<void> {
    const { step, onError, firstPauseMs = 0 } = this.#options;
    // The constructor returns before the first step, so a step may use what is wired up around its loop.
    await Promise.resolve();
    await this.#rest(pause(firstPauseMs));
    while (!this.#isStopped) {
      this.#isWoken = false;
      this.#isWokenNow = false;
      const next = await step().catch((error: unknown) => pause(onError(error)));
      await this.#rest(next);
    }
  }

  async #rest({ kind, ms }: Next): Promise<void> {
    if (this.#isStopped || this.#isWokenNow || ms <= 0) return;
    if (kind === 'wait' && this.#isWoken) return;
    this.#endWait = new AbortController();
    const { signal } = this.#endWait;
    this.#isWaiting = kind === 'wait';
    if (ms === Number.POSITIVE_INFINITY) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    } else {
      await this.#options.clock.sleep(ms, signal);
    }
    this.#isWaiting = false;
  }
}
