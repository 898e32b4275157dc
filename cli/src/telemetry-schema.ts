import { setTimeout as delay } from 'node:timers/promises';
import { MigrationError, migrateTelemetry, type TelemetryTarget } from '@gatehouse/store';
import type { Logger } from 'pino';

/** The telemetry store's schema, on its way to this version's. */
export interface TelemetrySchema extends AsyncDisposable {
  /** Resolves once it is there; rejects, at whatever time, when the store's schema cannot be used. */
  readonly upToDate: Promise<void>;
}

const LONGEST_PAUSE_MS = 2_000;

/** Migrates as soon as the store can be reached, and goes on trying until then. */
export function bringUpToDate(target: TelemetryTarget, log: Logger): TelemetrySchema {
  const stopping = new AbortController();
  const upToDate = tryUntilDone(target, log, stopping.signal);
  // Whoever needs to know of a failure waits for it; nobody has to.
  upToDate.catch(() => undefined);
  return {
    upToDate,
    async [Symbol.asyncDispose]() {
      stopping.abort();
    },
  };
}

async function tryUntilDone(target: TelemetryTarget, log: Logger, signal: AbortSignal): Promise<void> {
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    try {
      const applied = await migrateTelemetry(target);
      if (applied.length > 0) log.info({ steps: applied }, 'ClickHouse schema brought up to date');
      return;
    } catch (error) {
      if (error instanceof MigrationError) throw error;
      if (attempt === 1) log.warn({ err: error }, 'the telemetry store cannot be used yet; trying again');
      await delay(Math.min(100 * attempt, LONGEST_PAUSE_MS), undefined, { signal }).catch(() => undefined);
    }
  }
}
