import { type Clock, createBackoff, systemClock } from '@gatehouse/concurrency';
import { DatabaseUnavailable, isTlsFailure } from '@gatehouse/store';
import type { Logger } from 'pino';

const RETRIES = { firstMs: 250, maxMs: 5_000, jitter: 0.3 };

export interface AwaitOptions {
  readonly timeoutMs: number;
  readonly log: Logger;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
  readonly clock?: Pick<Clock, 'monotonicMs' | 'sleep'>;
}

/**
 * Does what a start needs of PostgreSQL, again and again until PostgreSQL answers all of it, so that it and Gatehouse may start in any
 * order, and it may be lost meanwhile. What waiting does not change is thrown at once: a login or a certificate that is
 * refused. Throws DatabaseUnavailable when the time is over.
 */
export async function awaitPostgres<Prepared>(
  prepare: () => Promise<Prepared>,
  options: AwaitOptions,
): Promise<Prepared> {
  const { timeoutMs, log, signal, clock = systemClock } = options;
  const backoff = createBackoff(RETRIES);
  const startedAtMs = clock.monotonicMs();
  for (;;) {
    try {
      const prepared = await prepare();
      if (backoff.failures > 0)
        log.info(
          { event: 'postgres.reached', after_ms: Math.round(clock.monotonicMs() - startedAtMs) },
          'PostgreSQL answers',
        );
      return prepared;
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable) || isTlsFailure(error)) throw error;
      const leftMs = timeoutMs - (clock.monotonicMs() - startedAtMs);
      if (signal?.aborted)
        throw new DatabaseUnavailable('stopped while waiting for PostgreSQL', { cause: error.cause });
      if (leftMs <= 0) {
        throw new DatabaseUnavailable(
          `PostgreSQL did not answer within ${timeoutMs / 1_000} s (START_TIMEOUT)`,
          { cause: error.cause },
        );
      }
      const pauseMs = Math.min(backoff.nextMs(), leftMs);
      log.warn(
        { event: 'postgres.awaited', retry_in_ms: Math.round(pauseMs), err: error.cause },
        'PostgreSQL does not answer yet; waiting for it',
      );
      await clock.sleep(pauseMs, signal);
    }
  }
}
