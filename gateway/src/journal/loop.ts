import type { Timing } from './timing.ts';

/** What a step asks for next. News ends a wait, but not a pause. */
export interface Next {
  readonly kind: 'pause' | 'wait';
  readonly ms: number;
}

/** Run the step again after so many milliseconds. */
export function pause(ms: number): Next {
  return { kind: 'pause', ms };
}

/** Run the step again when there is news, or after so many milliseconds at the latest. */
export function waitForNews(ms: number = Number.POSITIVE_INFINITY): Next {
  return { kind: 'wait', ms };
}

export interface LoopOptions {
  readonly timing: Timing;
  /** One piece of the work. */
  readonly step: () => Promise<Next>;
  readonly firstPauseMs?: number;
  /** Called with what a step threw; returns the milliseconds until the next try. */
  readonly onError: (error: unknown) => number;
}

/** Runs a step over and over, never twice at once, and survives its failures. */
export class Loop {
  readonly #options: LoopOptions;
  readonly #done: Promise<void>;
  #isStopped = false;
  #hasNews = false;
  #isHurried = false;
  #isWaiting = false;
  #endWait = new AbortController();

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#done = this.#run();
  }

  /** There is news. */
  nudge(): void {
    this.#hasNews = true;
    if (this.#isWaiting) this.#endWait.abort();
  }

  /** Ends waits and pauses alike: the step runs again at once. */
  hurry(): void {
    this.#hasNews = true;
    this.#isHurried = true;
    this.#endWait.abort();
  }

  /** Resolves when no step runs any more; the one that runs is let to finish. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#endWait.abort();
    await this.#done;
  }

  async #run(): Promise<void> {
    const { step, onError, firstPauseMs = 0 } = this.#options;
    // The constructor returns before the first step, so a step may use whatever is wired up around its loop.
    await Promise.resolve();
    await this.#rest(pause(firstPauseMs));
    while (!this.#isStopped) {
      this.#hasNews = false;
      this.#isHurried = false;
      const next = await step().catch((error: unknown) => pause(onError(error)));
      await this.#rest(next);
    }
  }

  async #rest({ kind, ms }: Next): Promise<void> {
    if (this.#isStopped || this.#isHurried || ms <= 0) return;
    if (kind === 'wait' && this.#hasNews) return;
    this.#endWait = new AbortController();
    const { signal } = this.#endWait;
    this.#isWaiting = kind === 'wait';
    if (ms === Number.POSITIVE_INFINITY) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    } else {
      await this.#options.timing.sleep(ms, signal);
    }
    this.#isWaiting = false;
  }
}
