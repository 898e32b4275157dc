import type { createTelemetryClient } from './client.ts';
import type { TelemetryQuery } from './telemetry-query.ts';

type TelemetryClient = ReturnType<typeof createTelemetryClient>;

/** No complete answer: the store is unavailable, took too long, or failed in the middle of the rows. */
export class TelemetryUnavailableError extends Error {
  override readonly name = 'TelemetryUnavailableError';
}

/** When queries must have ended. Several queries may share one deadline. */
export interface Deadline {
  readonly signal: AbortSignal;
  remainingMs(): number;
}

/** A deadline that starts now and also ends when one of the signals aborts. */
export function startDeadline(timeoutMs: number, ...signals: readonly AbortSignal[]): Deadline {
  const end = performance.now() + timeoutMs;
  return {
    signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...signals]),
    remainingMs: () => end - performance.now(),
  };
}

const MIB = 1024 * 1024;

/**
 * The resources that one query may use in the engine, so that the history of one organisation cannot starve the others. Grouping and
 * sorting spill to disk before the memory limit is reached.
 */
export const QUERY_LIMITS = {
  max_memory_usage: String(512 * MIB),
  max_bytes_before_external_group_by: String(192 * MIB),
  max_bytes_before_external_sort: String(192 * MIB),
  max_rows_to_read: String(2_000_000_000),
  max_result_rows: String(1_000_000),
  // A query cannot change anything, whatever its text says.
  readonly: '2',
} as const;

/**
 * Runs a query and returns all its rows, or throws TelemetryUnavailableError: never a part of them. The engine gets the
 * remaining time as a limit of its own, because closing the connection does not always stop what it computes.
 */
export async function queryRows<Row>(
  client: TelemetryClient,
  query: TelemetryQuery<Row>,
  deadline: Deadline,
): Promise<Row[]> {
  try {
    deadline.signal.throwIfAborted();
    const result = await client.query({ ...request(query, deadline), format: 'JSONEachRow' });
    return await unlessAborted(deadline.signal, () => result.json<Row>(), result);
  } catch (error) {
    throw new TelemetryUnavailableError('the telemetry store gave no complete answer', { cause: error });
  }
}

/** Rows as the engine wrote them: one JSON object a line, each line terminated. */
export interface Lines {
  readonly lines: Buffer;
  /** False where the result had more rows than `maxBytes` allowed. */
  readonly isComplete: boolean;
}

/**
 * Like queryRows, with the rows unparsed, for answers where parsing would be most of the work. The result ends before
 * `maxBytes`, but has one row at least.
 */
export async function queryLines(
  client: TelemetryClient,
  query: TelemetryQuery<unknown>,
  deadline: Deadline,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<Lines> {
  try {
    deadline.signal.throwIfAborted();
    const { query: sql, ...others } = request(query, deadline);
    const { stream } = await client.exec({ query: `${sql} FORMAT JSONEachRow`, ...others });
    const close = { close: () => void stream.destroy() };
    const answer = await unlessAborted(deadline.signal, () => readLines(stream, maxBytes), close);
    requireWholeRows(answer.lines);
    return answer;
  } catch (error) {
    throw new TelemetryUnavailableError('the telemetry store gave no complete answer', { cause: error });
  }
}

// Leaving the loop closes the connection, and that stops the query in the engine.
async function readLines(stream: AsyncIterable<Buffer>, maxBytes: number): Promise<Lines> {
  const chunks: Buffer[] = [];
  let length = 0;
  let hasLine = false;
  for await (const chunk of stream) {
    chunks.push(chunk);
    length += chunk.length;
    hasLine ||= chunk.includes(NEWLINE);
    if (length <= maxBytes || !hasLine) continue;
    const lines = Buffer.concat(chunks);
    const end = lines.lastIndexOf(NEWLINE, maxBytes - 1);
    return { lines: lines.subarray(0, (end < 0 ? lines.indexOf(NEWLINE) : end) + 1), isComplete: false };
  }
  return { lines: Buffer.concat(chunks), isComplete: true };
}

function request({ sql, parameters, settings }: TelemetryQuery<unknown>, { signal, remainingMs }: Deadline) {
  return {
    query: sql,
    query_params: { ...parameters },
    clickhouse_settings: {
      ...settings,
      ...QUERY_LIMITS,
      // In seconds; 0 would mean no limit.
      max_execution_time: Math.max(remainingMs(), 1) / 1000,
    },
    abort_signal: signal,
  };
}

// The client honours the signal only until the headers arrive; a body can stall as well.
async function unlessAborted<T>(
  signal: AbortSignal,
  read: () => Promise<T>,
  source: { close(): void },
): Promise<T> {
  const close = () => source.close();
  signal.addEventListener('abort', close);
  try {
    signal.throwIfAborted();
    return await read();
  } finally {
    signal.removeEventListener('abort', close);
  }
}

const NEWLINE = 10;
const BRACE = 123;

// After the headers, the store reports a failure in the place of a row.
function requireWholeRows(lines: Buffer): void {
  for (let start = 0; start < lines.length; ) {
    const end = lines.indexOf(NEWLINE, start);
    if (lines[start] !== BRACE || end < 0)
      throw new Error(`in place of a row: ${lines.toString('utf8', start, start + 500)}`);
    start = end + 1;
  }
}
