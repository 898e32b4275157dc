import { type Backoff, createBackoff } from '@gatehouse/concurrency';
import type { Logger } from 'pino';
import type { JournalClock } from './journal.ts';

export interface OutageOptions {
  /** The work that fails: `journal.<name>_failing` and `journal.<name>_recovered` are logged. */
  readonly name: string;
  readonly log: Logger;
  readonly clock: JournalClock;
  readonly random: () => number;
  readonly firstRetryMs: number;
  readonly lastRetryMs: number;
}

// Nodes that lost a store together must not return together.
const JITTER = 0.5;

/**
 * Work that fails, from its first failure to its next success: how long to wait before each retry, and one line in the
 * log at either end, however many retries lie between.
 */
export class Outage {
  readonly #options: OutageOptions;
  readonly #backoff: Backoff;
  #sinceMs = 0;
  #failures = 0;

  constructor(options: OutageOptions) {
    const { firstRetryMs: firstMs, lastRetryMs: maxMs, random } = options;
    this.#options = options;
    this.#backoff = createBackoff({ firstMs, maxMs, jitter: JITTER, random });
  }

  get isOngoing(): boolean {
    return this.#backoff.failures > 0;
  }

  /** Since the start of the process. */
  get failures(): number {
    return this.#failures;
  }

  /** Notes a failure and returns the milliseconds to wait before the next attempt. */
  failed(error: unknown): number {
    const { name, log, clock } = this.#options;
    this.#failures += 1;
    if (!this.isOngoing) {
      this.#sinceMs = clock.monotonicMs();
      log.error(
        { event: `journal.${name}_failing`, err: error },
        'journal work fails; retrying until it succeeds',
      );
    }
    return this.#backoff.nextMs();
  }

  succeeded(): void {
    if (!this.isOngoing) return;
    const { name, log, clock } = this.#options;
    log.info(
      {
        event: `journal.${name}_recovered`,
        attempts: this.#backoff.failures,
        outageMs: Math.round(clock.monotonicMs() - this.#sinceMs),
      },
      'journal work succeeds again',
    );
    this.#backoff.reset();
  }
}
