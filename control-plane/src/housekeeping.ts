import { setTimeout as delay } from 'node:timers/promises';
import type { Database, TelemetryClient } from '@gatehouse/store';
import type { Logger } from 'pino';
import { purgeActivity } from './activity/index.ts';
import { keepTelemetry } from './analytics/keeping/keep-telemetry.ts';
import { sweepExpired } from './auth/index.ts';
import { sweepIdempotencyKeys } from './keys/index.ts';
import { keepLedger } from './ledger/index.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

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
 * log and of the request log, and what the ledger keeps as sums from now on. What failed is tried again after
 * `retryMs`. Several nodes may do it at once.
 */
export function startHousekeeping(household: Household, retryMs = MINUTE_MS): AsyncDisposable {
  const { database, log, signInWindowSeconds } = household;
  const stopping = new AbortController();
  const { signal } = stopping;
  const repeated = (chore: Chore) => repeat(chore, retryMs, log, signal);
  const all = [
    repeated({
      everyMs: MINUTE_MS,
      isForTheStart: false,
      failure: 'what has expired could not be removed; trying again',
      work: () => sweep(database, signInWindowSeconds),
    }),
    repeated({
      everyMs: HOUR_MS,
      isForTheStart: true,
      failure: 'the activity log’s retention could not be applied; trying again',
      work: () => applyRetention(database, log),
    }),
    repeated({
      everyMs: HOUR_MS,
      isForTheStart: true,
      failure: 'the ledger’s partitions could not be kept; trying again',
      work: () => keepLedgerOnce(database, log, signal),
    }),
    repeated({
      everyMs: HOUR_MS,
      isForTheStart: true,
      failure: 'the telemetry store could not be kept in order; trying again',
      work: () => keepTelemetryOnce(household, signal),
    }),
  ];
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await Promise.all(all);
    },
  };
}

interface Chore {
  readonly everyMs: number;
  readonly isForTheStart: boolean;
  /** What the log says when it could not be done. */
  readonly failure: string;
  readonly work: () => Promise<void>;
}

/** Does it at intervals until the signal, and resolves once nothing of it goes on. */
async function repeat(
  { everyMs, isForTheStart, failure, work }: Chore,
  retryMs: number,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  for (let isFirst = true; ; isFirst = false) {
    let pauseMs = everyMs;
    try {
      if (!isFirst || isForTheStart) await work();
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error }, failure);
      pauseMs = retryMs;
    }
    const isOver = await delay(pauseMs, false, { signal }).catch(() => true);
    if (isOver) return;
  }
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
