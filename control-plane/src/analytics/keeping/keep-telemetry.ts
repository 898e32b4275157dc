import type { TelemetryClient } from '@gatehouse/store';
import { askTelemetry, startBudget } from '../../lib/ask-telemetry.ts';
import { bringKeysUp, type Change, countKeysBehind, dropMonth, listMonths } from './telemetry.ts';

/** What was done to the telemetry store. */
export type Kept =
  /** This many keys had been used later than their last use said. */
  | { readonly done: 'keys-brought-up'; readonly keys: number }
  /** A month such as 2026-11 was older than what is kept, and is gone with its requests. */
  | { readonly done: 'month-dropped'; readonly month: string; readonly requests: number };

export interface Keeping {
  /** Undefined keeps everything. */
  readonly retentionDays: number | undefined;
  readonly now: Date;
  readonly signal?: AbortSignal;
}

/** How long each step may take; the engine stops it then. */
const STEP_MS = 25_000;
const DAY_MS = 86_400_000;

/**
 * Brings key_last_used up to the request log, then drops the months that are no longer kept. In this order, because
 * a last use that is only in the log would go with its month. Several nodes may do it at once, and any of them may
 * be killed at it.
 *
 * @throws TelemetryUnavailable, or an error of the store's client
 */
export async function* keepTelemetry(
  telemetry: TelemetryClient,
  { retentionDays, now, signal }: Keeping,
): AsyncGenerator<Kept> {
  const budget = () => startBudget(STEP_MS, ...(signal ? [signal] : []));
  const [found] = await askTelemetry(telemetry, countKeysBehind, budget());
  const keys = Number(found?.behind ?? 0);
  if (keys > 0) {
    await change(telemetry, bringKeysUp, signal);
    yield { done: 'keys-brought-up', keys };
  }
  if (retentionDays === undefined) return;
  for (const { month, requests } of await askTelemetry(telemetry, listMonths, budget())) {
    if (endOf(month) > now.getTime() - retentionDays * DAY_MS) continue;
    await change(telemetry, dropMonth(month), signal);
    const inWords = `${month.slice(0, 4)}-${month.slice(4)}`;
    yield { done: 'month-dropped', month: inWords, requests: Number(requests) };
  }
}

async function change(
  telemetry: TelemetryClient,
  { sql, values, settings }: Change,
  signal: AbortSignal | undefined,
): Promise<void> {
  await telemetry.command({
    query: sql,
    query_params: values,
    clickhouse_settings: { ...settings, max_execution_time: STEP_MS / 1000 },
    ...(signal ? { abort_signal: signal } : {}),
  });
}

/** The first moment after a month such as 202611, which is UTC's. Every row of it is older. */
function endOf(month: string): number {
  return Date.UTC(Number(month.slice(0, 4)), Number(month.slice(4)));
}
