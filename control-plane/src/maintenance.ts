import { systemClock } from '@gatehouse/concurrency';
import type { Database, TelemetryClient } from '@gatehouse/store';
import type { Logger } from 'pino';
import { purgeActivity } from './activity/index.ts';
import { alertOfExpiringKeys, sweepDeliveries } from './alerts/index.ts';
import { maintainTelemetry } from './analytics/maintenance/maintain-telemetry.ts';
import { sweepExpired } from './auth/index.ts';
import { sweepKeptItems, sweepUpstreamStates } from './catalogue/index.ts';
import { sweepEndedSecrets, sweepIdempotencyKeys } from './keys/index.ts';
import { keepLedger } from './ledger/index.ts';
import { sweepEndedWindows } from './limits/index.ts';

const MINUTE_MS = 60_000;
const EXPIRIES_MS = 15_000;
const HOUR_MS = 60 * MINUTE_MS;

export interface MaintenanceDependencies {
  readonly database: Database;
  readonly telemetry: TelemetryClient;
  readonly log: Logger;
  readonly signInWindowSeconds: number;
  /** Retention of the request log in days; undefined keeps it forever. */
  readonly telemetryRetentionDays: number | undefined;
}

interface PeriodicJob {
  /** As it stands in the log. */
  readonly name: string;
  readonly intervalMs: number;
  readonly runsAtStart: boolean;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

function periodicJobs(dependencies: MaintenanceDependencies): readonly PeriodicJob[] {
  const { database, log, signInWindowSeconds } = dependencies;
  return [
    {
      name: 'expired_rows',
      intervalMs: MINUTE_MS,
      runsAtStart: false,
      run: () => deleteExpired(database, signInWindowSeconds),
    },
    {
      name: 'key_expiries',
      intervalMs: EXPIRIES_MS,
      runsAtStart: true,
      run: (signal) => alertOfExpiringKeys(database, signal),
    },
    {
      name: 'activity_retention',
      intervalMs: HOUR_MS,
      runsAtStart: true,
      run: () => applyRetention(database, log),
    },
    {
      name: 'ledger_partitions',
      intervalMs: HOUR_MS,
      runsAtStart: true,
      run: (signal) => maintainLedger(database, log, signal),
    },
    {
      name: 'telemetry_retention',
      intervalMs: HOUR_MS,
      runsAtStart: true,
      run: (signal) => maintainTelemetryStore(dependencies, signal),
    },
  ];
}

/**
 * Starts the periodic jobs: alerts of keys that expire every 15 s; expired rows every minute; retention of the activity log and the request log, and the
 * ledger's partitions, at start and every hour. A failed job runs again after `retryMs`. Every job may run on several
 * nodes at once. Disposing stops all jobs and waits for them.
 */
export function startMaintenance(
  dependencies: MaintenanceDependencies,
  retryMs = MINUTE_MS,
): AsyncDisposable {
  const stopping = new AbortController();
  const running = periodicJobs(dependencies).map((job) =>
    runPeriodically(job, retryMs, dependencies.log, stopping.signal),
  );
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

/** Resolves once the signal is aborted and the current run has ended. */
async function runPeriodically(
  { name, intervalMs, runsAtStart, run }: PeriodicJob,
  retryMs: number,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  for (let isFirst = true; ; isFirst = false) {
    let pauseMs = intervalMs;
    try {
      if (!isFirst || runsAtStart) await run(signal);
    } catch (error) {
      if (!signal.aborted) {
        log.warn(
          { event: 'maintenance.job_failed', job: name, retry_ms: retryMs, err: error },
          'periodic job failed; retrying',
        );
      }
      pauseMs = retryMs;
    }
    await systemClock.sleep(pauseMs, signal);
    if (signal.aborted) return;
  }
}

async function maintainLedger(database: Database, log: Logger, signal: AbortSignal): Promise<void> {
  for await (const { partition, requests, spentMicroPkr } of keepLedger(database, signal)) {
    log.info(
      { event: 'ledger.partition_folded', partition, requests, spent_micro_pkr: String(spentMicroPkr) },
      'folded a partition of old settlements into the totals of their keys',
    );
  }
}

async function maintainTelemetryStore(
  { telemetry, log, telemetryRetentionDays }: MaintenanceDependencies,
  signal: AbortSignal,
): Promise<void> {
  const options = { retentionDays: telemetryRetentionDays, now: new Date(), signal };
  for await (const kept of maintainTelemetry(telemetry, options)) {
    if (kept.done === 'last-used-repaired') {
      log.info(
        { event: 'telemetry.last_used_repaired', keys: kept.keys },
        'repaired last_used_at from the request log',
      );
    } else {
      log.info(
        { event: 'telemetry.month_dropped', month: kept.month, requests: kept.requests },
        'dropped a month of the request log past its retention',
      );
    }
  }
}

/** Applies the activity log's retention once. Tampered entries are logged as an error each time. */
export async function applyRetention(database: Database, log: Logger): Promise<void> {
  for await (const { organizationId, removed, brokenSequence } of purgeActivity(database)) {
    if (removed > 0) {
      log.info(
        { event: 'activity.entries_removed', organization_id: organizationId, removed },
        'removed activity log entries past their retention',
      );
    }
    if (brokenSequence !== null) {
      log.error(
        {
          event: 'activity.entry_tampered',
          organization_id: organizationId,
          sequence: Number(brokenSequence),
        },
        'activity log entry was tampered with; retention keeps it: run gatehouse activity verify',
      );
    }
  }
}

async function deleteExpired(database: Database, signInWindowSeconds: number): Promise<void> {
  await sweepExpired(database, signInWindowSeconds);
  await sweepIdempotencyKeys(database);
  await sweepEndedSecrets(database);
  await sweepEndedWindows(database);
  await sweepDeliveries(database);
  await sweepUpstreamStates(database);
  await sweepKeptItems(database);
}
