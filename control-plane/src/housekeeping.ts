import type { Database, TelemetryClient } from '@gatehouse/store';
import type { Logger } from 'pino';
import { purgeActivity } from './activity/index.ts';
import { keepTelemetry } from './analytics/keeping/keep-telemetry.ts';
import { sweepExpired } from './auth/index.ts';
import { sweepIdempotencyKeys } from './keys/index.ts';
import { keepLedger } from './ledger/index.ts';

const SWEEP_EVERY_MS = 60_000;
const RETENTION_EVERY_MS = 60 * 60_000;
const LEDGER_EVERY_MS = 60 * 60_000;
const TELEMETRY_EVERY_MS = 60 * 60_000;

/** What housekeeping works with. */
export interface Household {
  readonly database: Database;
  readonly telemetry: TelemetryClient;
  readonly log: Logger;
  readonly signInWindowSeconds: number;
  /** How many days of requests are kept; undefined keeps all of them. */
  readonly telemetryRetentionDays: number | undefined;
}

/**
 * Removes what has expired, every minute; at the start and every hour, what retention no longer keeps of the activity
 * log and of the request log, and what the ledger keeps as sums from now on. Several nodes may do it at once.
 */
export function startHousekeeping(household: Household): AsyncDisposable {
  const { database, log, signInWindowSeconds } = household;
  const sweeping = repeat(SWEEP_EVERY_MS, async () => {
    await sweep(database, signInWindowSeconds).catch((error: unknown) => {
      log.warn({ err: error }, 'what has expired could not be removed; trying again in a minute');
    });
  });
  const retaining = repeat(RETENTION_EVERY_MS, async () => {
    await applyRetention(database, log).catch((error: unknown) => {
      log.warn({ err: error }, 'the activity log’s retention could not be applied; trying again in an hour');
    });
  });
  void retaining.now();
  const stopping = new AbortController();
  const keeping = repeat(LEDGER_EVERY_MS, async () => {
    await keepLedgerOnce(database, log, stopping.signal).catch((error: unknown) => {
      log.warn({ err: error }, 'the ledger’s partitions could not be kept; trying again in an hour');
    });
  });
  void keeping.now();
  const keepingTelemetry = repeat(TELEMETRY_EVERY_MS, async () => {
    await keepTelemetryOnce(household, stopping.signal).catch((error: unknown) => {
      if (stopping.signal.aborted) return;
      log.warn({ err: error }, 'the telemetry store could not be kept in order; trying again in an hour');
    });
  });
  void keepingTelemetry.now();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await Promise.all([sweeping.stop(), retaining.stop(), keeping.stop(), keepingTelemetry.stop()]);
    },
  };
}

async function keepLedgerOnce(database: Database, log: Logger, signal: AbortSignal): Promise<void> {
  for await (const { partition, requests, spentMicroPkr } of keepLedger(database, signal)) {
    log.info(
      { partition, requests, spent_micro_pkr: String(spentMicroPkr) },
      'old settlements were folded into the sums of their keys',
    );
  }
}

async function keepTelemetryOnce(
  { telemetry, log, telemetryRetentionDays }: Household,
  signal: AbortSignal,
): Promise<void> {
  const keeping = { retentionDays: telemetryRetentionDays, now: new Date(), signal };
  for await (const kept of keepTelemetry(telemetry, keeping)) {
    if (kept.done === 'keys-brought-up') {
      log.info({ keys: kept.keys }, 'keys had been used later than their last use said; it is right again');
    } else {
      log.info({ month: kept.month, requests: kept.requests }, 'a month of requests is no longer kept');
    }
  }
}

/** Applies retention once and tells the log of what it did: entries that were tampered with are an alarm. */
export async function applyRetention(database: Database, log: Logger): Promise<void> {
  for await (const { organizationId, removed, brokenSequence } of purgeActivity(database)) {
    if (removed > 0) {
      log.info({ organization_id: organizationId, removed }, 'old entries of the activity log were removed');
    }
    if (brokenSequence !== null) {
      log.error(
        { organization_id: organizationId, sequence: Number(brokenSequence) },
        'an entry of the activity log is not as it was written; retention keeps it: see gatehouse activity verify',
      );
    }
  }
}

async function sweep(database: Database, signInWindowSeconds: number): Promise<void> {
  await sweepExpired(database, signInWindowSeconds);
  await sweepIdempotencyKeys(database);
}

/** Runs the work at intervals, never twice at a time. It must not throw. */
function repeat(everyMs: number, work: () => Promise<void>) {
  let running: Promise<void> | undefined;
  const now = () => {
    running ??= work().finally(() => {
      running = undefined;
    });
    return running;
  };
  const timer = setInterval(now, everyMs);
  return {
    now,
    async stop(): Promise<void> {
      clearInterval(timer);
      await running;
    },
  };
}
