import { createBackoff, systemClock } from '@gatehouse/concurrency';
import { MigrationError, migrateTelemetry, type TelemetryTarget } from '@gatehouse/store';
import type { Logger } from 'pino';

/** A migration of the telemetry store that waits for the store to answer. Disposing stops the attempts. */
export interface TelemetryMigrationTask extends AsyncDisposable {
  /** Resolves once the store is migrated; rejects, at any time, when its schema cannot be used. */
  readonly migrated: Promise<void>;
  /** Why the last attempt failed, in a few words; undefined before it. */
  failure(): string | undefined;
}

const LONGEST_REASON = 120;
const RETRIES = { firstMs: 100, maxMs: 2_000 };

/** Migrates as soon as the store can be reached, and retries until then. */
export function migrateTelemetryInBackground(target: TelemetryTarget, log: Logger): TelemetryMigrationTask {
  const stopping = new AbortController();
  let failure: string | undefined;
  const onFailure = (error: unknown) => {
    failure = reasonOf(error);
  };
  const migrated = migrateWithRetries(target, log, stopping.signal, onFailure);
  // A failure before anything awaits it is not an unhandled rejection.
  migrated.catch(() => undefined);
  return {
    migrated,
    failure: () => failure,
    async [Symbol.asyncDispose]() {
      stopping.abort();
    },
  };
}

// The first line: an error of the server continues with its query.
function reasonOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return (message.split('\n')[0] || code || 'no answer').slice(0, LONGEST_REASON);
}

async function migrateWithRetries(
  target: TelemetryTarget,
  log: Logger,
  signal: AbortSignal,
  onFailure: (error: unknown) => void,
): Promise<void> {
  const backoff = createBackoff(RETRIES);
  while (!signal.aborted) {
    try {
      const steps = await migrateTelemetry(target);
      if (steps.length > 0) log.info({ event: 'clickhouse.migrated', steps }, 'ClickHouse schema migrated');
      return;
    } catch (error) {
      if (error instanceof MigrationError) throw error;
      onFailure(error);
      if (backoff.failures === 0) {
        log.warn({ event: 'clickhouse.unavailable', err: error }, 'ClickHouse unavailable; retrying');
      }
      await systemClock.sleep(backoff.nextMs(), signal);
    }
  }
}
