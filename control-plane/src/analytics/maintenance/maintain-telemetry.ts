import { QUERY_LIMITS, queryRows, startDeadline, type TelemetryClient } from '@gatehouse/store';
import { countStaleKeys, dropMonth, listMonths, repairLastUsed, type TelemetryCommand } from './telemetry.ts';

/** The result of maintenance of the telemetry store. */
export type MaintenanceResult =
  /** For this many keys, key_last_used was behind the request log. */
  | { readonly done: 'last-used-repaired'; readonly keys: number }
  /** A month such as 2026-11 was past retention and was dropped with its requests. */
  | { readonly done: 'month-dropped'; readonly month: string; readonly requests: number };

export interface MaintenanceOptions {
  /** Undefined keeps everything. */
  readonly retentionDays: number | undefined;
  readonly now: Date;
  readonly signal?: AbortSignal;
}

/** The engine stops a step after this time. */
const STEP_TIMEOUT_MS = 25_000;
const DAY_MS = 86_400_000;

/**
 * Repairs key_last_used from the request log, then drops the months past retention. In this order, because a last use
 * that only the log has would go with its month. Several nodes may do it at once, and each may be killed in the middle.
 *
 * @throws TelemetryUnavailableError, or an error of the store's client
 */
export async function* maintainTelemetry(
  telemetry: TelemetryClient,
  { retentionDays, now, signal }: MaintenanceOptions,
): AsyncGenerator<MaintenanceResult> {
  const deadline = () => startDeadline(STEP_TIMEOUT_MS, ...(signal ? [signal] : []));
  const [found] = await queryRows(telemetry, countStaleKeys, deadline());
  const keys = Number(found?.stale ?? 0);
  if (keys > 0) {
    await run(telemetry, repairLastUsed, signal);
    yield { done: 'last-used-repaired', keys };
  }
  if (retentionDays === undefined) return;
  for (const { month, requests } of await queryRows(telemetry, listMonths, deadline())) {
    if (endOf(month) > now.getTime() - retentionDays * DAY_MS) continue;
    await run(telemetry, dropMonth(month), signal);
    const name = `${month.slice(0, 4)}-${month.slice(4)}`;
    yield { done: 'month-dropped', month: name, requests: Number(requests) };
  }
}

async function run(
  telemetry: TelemetryClient,
  { sql, parameters, settings }: TelemetryCommand,
  signal: AbortSignal | undefined,
): Promise<void> {
  await telemetry.command({
    query: sql,
    query_params: { ...parameters },
    clickhouse_settings: {
      ...settings,
      ...QUERY_LIMITS,
      // It writes.
      readonly: '0',
      max_execution_time: STEP_TIMEOUT_MS / 1000,
    },
    ...(signal ? { abort_signal: signal } : {}),
  });
}

/** The first moment after a month such as 202611, in UTC. Every row of the month is older. */
function endOf(month: string): number {
  return Date.UTC(Number(month.slice(0, 4)), Number(month.slice(4)));
}
