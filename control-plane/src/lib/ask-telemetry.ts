import type { TelemetryClient } from '@gatehouse/store';

/**
 * A question to the telemetry store: SQL and the values it binds. Every value is checked against its column's range
 * before it gets here, because the engine does not refuse what does not fit but wraps it around.
 */
export interface Question<Row> {
  readonly sql: string;
  readonly values: Readonly<Record<string, string | number | bigint>>;
  /** Settings of the engine that make this question faster; never what bounds it. */
  readonly settings?: Readonly<Record<string, string | number>>;
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

/** A budget that also ends when one of the signals aborts. */
export function startBudget(ms: number, ...others: readonly AbortSignal[]): Budget {
  const end = performance.now() + ms;
  return {
    signal: AbortSignal.any([AbortSignal.timeout(ms), ...others]),
    remainingMs: () => end - performance.now(),
  };
}

const MIB = 1024 * 1024;

/**
 * What one question may take in the engine, so that one organisation's history cannot starve the others. Grouping and
 * sorting go on in files before the memory is used up.
 */
const LIMITS = {
  max_memory_usage: String(512 * MIB),
  max_bytes_before_external_group_by: String(192 * MIB),
  max_bytes_before_external_sort: String(192 * MIB),
  max_rows_to_read: String(2_000_000_000),
  max_result_rows: String(1_000_000),
  // Nothing that is asked here may change anything, whatever it says.
  readonly: '2',
} as const;

/**
 * Asks within a budget and returns all rows, or throws TelemetryUnavailable: never a part of them. The engine gets
 * the remaining time as a limit of its own, since letting go of the connection does not stop what it computes.
 */
export async function askTelemetry<Row>(
  client: TelemetryClient,
  question: Question<Row>,
  budget: Budget,
): Promise<Row[]> {
  try {
    budget.signal.throwIfAborted();
    const result = await client.query({ ...request(question, budget), format: 'JSONEachRow' });
    return await unlessAborted(budget.signal, () => result.json<Row>(), result);
  } catch (error) {
    throw new TelemetryUnavailable('the telemetry store gave no answer', { cause: error });
  }
}

/** Rows as the engine wrote them: a JSON object a line, each line ended. */
export interface Lines {
  readonly lines: Buffer;
  /** False where there were more than were wanted. */
  readonly isWhole: boolean;
}

/**
 * Asks like askTelemetry, and returns the rows unread, for answers of which parsing would be most of the work. Once they
 * come to `mostBytes` the rest is not taken any more: the rows before that, but one at least, are the answer.
 */
export async function askTelemetryForLines(
  client: TelemetryClient,
  question: Question<unknown>,
  budget: Budget,
  mostBytes = Number.POSITIVE_INFINITY,
): Promise<Lines> {
  try {
    budget.signal.throwIfAborted();
    const { query, ...others } = request(question, budget);
    const { stream } = await client.exec({ query: `${query} FORMAT JSONEachRow`, ...others });
    const close = { close: () => void stream.destroy() };
    const answer = await unlessAborted(budget.signal, () => readLines(stream, mostBytes), close);
    requireWholeRows(answer.lines);
    return answer;
  } catch (error) {
    throw new TelemetryUnavailable('the telemetry store gave no answer', { cause: error });
  }
}

// Leaving the loop closes the connection, and that stops the question in the engine.
async function readLines(stream: AsyncIterable<Buffer>, mostBytes: number): Promise<Lines> {
  const chunks: Buffer[] = [];
  let length = 0;
  let hasLine = false;
  for await (const chunk of stream) {
    chunks.push(chunk);
    length += chunk.length;
    hasLine ||= chunk.includes(NEWLINE);
    if (length <= mostBytes || !hasLine) continue;
    const lines = Buffer.concat(chunks);
    const end = lines.lastIndexOf(NEWLINE, mostBytes - 1);
    return { lines: lines.subarray(0, (end < 0 ? lines.indexOf(NEWLINE) : end) + 1), isWhole: false };
  }
  return { lines: Buffer.concat(chunks), isWhole: true };
}

function request({ sql, values, settings }: Question<unknown>, { signal, remainingMs }: Budget) {
  return {
    query: sql,
    query_params: { ...values },
    clickhouse_settings: {
      ...settings,
      ...LIMITS,
      // In seconds, and 0 would mean no limit.
      max_execution_time: Math.max(remainingMs(), 1) / 1000,
    },
    abort_signal: signal,
  };
}

// The client listens to the signal only until the headers are there; a body can stall just as well.
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

// Once an answer has begun the store can tell of a failure only in the place of a row.
function requireWholeRows(lines: Buffer): void {
  for (let start = 0; start < lines.length; ) {
    const end = lines.indexOf(NEWLINE, start);
    if (lines[start] !== BRACE || end < 0)
      throw new Error(`in place of a row: ${lines.toString('utf8', start, start + 500)}`);
    start = end + 1;
  }
}
