import type { TelemetryClient } from '@gatehouse/store';

/**
 * A question to the telemetry store: SQL and the values it binds. Every value is checked against its column's range
 * before it gets here, because the engine does not refuse what does not fit but wraps it around.
 */
export interface Question<Row> {
  readonly sql: string;
  readonly values: Readonly<Record<string, string | number | bigint>>;
  /** Carries the type of a result row; never present at run time. */
  readonly row?: Row;
}

/** No answer, for whatever reason: the store is away, took too long, or broke off in the middle. */
export class TelemetryUnavailable extends Error {
  override readonly name = 'TelemetryUnavailable';
}

/** How long the questions of one request may take together. It starts when it is made. */
export interface Budget {
  readonly signal: AbortSignal;
  remainingMs(): number;
}

export function startBudget(ms: number): Budget {
  const end = performance.now() + ms;
  return { signal: AbortSignal.timeout(ms), remainingMs: () => end - performance.now() };
}

/** What one question may take in the engine, so that one organisation's history cannot starve the others. */
const MAX_MEMORY_BYTES = 512 * 1024 * 1024;

/**
 * Asks within a budget and returns all rows, or throws TelemetryUnavailable: never a part of them. The engine gets
 * the remaining time as a limit of its own, since letting go of the connection does not stop what it computes.
 */
export async function askTelemetry<Row>(
  client: TelemetryClient,
  question: Question<Row>,
  { signal, remainingMs }: Budget,
): Promise<Row[]> {
  try {
    signal.throwIfAborted();
    const result = await client.query({
      query: question.sql,
      query_params: { ...question.values },
      format: 'JSONEachRow',
      clickhouse_settings: {
        // In seconds, and 0 would mean no limit.
        max_execution_time: Math.max(remainingMs(), 1) / 1000,
        max_memory_usage: String(MAX_MEMORY_BYTES),
      },
      abort_signal: signal,
    });
    // The client listens to the signal only until the headers are there; a body can stall just as well.
    const close = () => result.close();
    signal.addEventListener('abort', close);
    try {
      signal.throwIfAborted();
      return await result.json<Row>();
    } finally {
      signal.removeEventListener('abort', close);
    }
  } catch (error) {
    throw new TelemetryUnavailable('the telemetry store gave no answer', { cause: error });
  }
}
