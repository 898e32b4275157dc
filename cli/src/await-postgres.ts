import { type Clock, createBackoff, systemClock } from '@gatehouse/concurrency';
import {
  type Database,
  DatabaseUnavailable,
  isTlsFailure,
  type NoParameters,
  sql,
  statement,
} from '@gatehouse/store';
import type { Logger } from 'pino';

const RETRIES = { firstMs: 250, maxMs: 5_000, jitter: 0.3 };

const answers = statement<NoParameters>('await-postgres', sql`SELECT`);

export interface AwaitOptions {
  readonly timeoutMs: number;
  readonly log: Logger;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
  readonly clock?: Pick<Clock, 'monotonicMs' | 'sleep'>;
}

/**
 * Waits until PostgreSQL answers, so that it and Gatehouse may start in any order. What waiting does not change is thrown at once: a
 * login or a certificate that is refused. Throws DatabaseUnavailable when the time is over.
 */
export async function awaitPostgres(database: Database, options: AwaitOptions): Promise<void> {
  const { timeoutMs, log, signal, clock = systemClock } = options;
  const backoff = createBackoff(RETRIES);
  const startedAtMs = clock.monotonicMs();
  for (;;) {
    try {
      await database.run(answers);
      if (backoff.failures > 0)
        log.info(
          { event: 'postgres.reached', after_ms: Math.round(clock.monotonicMs() - startedAtMs) },
          'PostgreSQL answers',
        );
      return;
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
