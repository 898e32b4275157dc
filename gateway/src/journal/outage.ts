import type { Logger } from 'pino';
import type { Timing } from './timing.ts';

export interface OutageOptions {
  /** What fails, as the subject of a sentence in the log. */
  readonly what: string;
  readonly log: Logger;
  readonly timing: Timing;
  readonly firstRetryMs: number;
  readonly lastRetryMs: number;
}

/**
 * A store that does not answer, from its first failure to its next success: how long to wait before each retry,
 * and one line in the log at either end however many retries lie between.
 */
export class Outage {
  readonly #options: OutageOptions;
  #failures = 0;
  #sinceMs = 0;

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  get isOngoing(): boolean {
    return this.#failures > 0;
  }

  /** Notes a failure and returns the milliseconds to wait before the next attempt. */
  failed(error: unknown): number {
    const { what, log, timing, firstRetryMs, lastRetryMs } = this.#options;
    if (this.#failures === 0) {
      this.#sinceMs = timing.now();
      log.error({ err: error }, `${what} fails; it is retried until it works, and nothing is lost meanwhile`);
    }
    const longest = Math.min(lastRetryMs, firstRetryMs * 2 ** Math.min(this.#failures, 30));
    this.#failures += 1;
    // Half of the wait is chance, so that nodes that lost the store together do not return together.
    return longest / 2 + (timing.random() * longest) / 2;
  }

  /** Notes that an attempt got through. */
  recovered(): void {
    if (this.#failures === 0) return;
    const { what, log, timing } = this.#options;
    log.info(
      { attempts: this.#failures, outageMs: Math.round(timing.now() - this.#sinceMs) },
      `${what} works again`,
    );
    this.#failures = 0;
  }
}
