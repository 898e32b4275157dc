/**
 * Runs one statement on a connection of its own, which is then closed. Settings, the database and parameter values stay
 * with a connection, so a connection used twice would apply one caller's deduplication token or limit to the next
 * caller's statement.
 *
 * There are three kinds of calls:
 * - rows of an INSERT are passed to the engine as bytes;
 * - a plain SELECT in a row-by-row JSON format is fetched block by block, so its size does not matter;
 * - every other answer is fetched whole, and its size is limited.
 */
import { plainName, type SqlStatement, sqlName, sqlString } from '@gatehouse/store/clickhouse-sql';
import { EngineException, exceptions } from './exceptions.ts';
import type { Connection, NativeEngine } from './native.ts';

export type OpenEngine = {
  readonly native: NativeEngine;
  readonly version: string;
  connect(): Connection;
};

export type EngineCall = {
  /** Unique in the engine's life; KILL QUERY finds the running query by it. */
  readonly id: string;
  readonly statement: SqlStatement;
  /** The rows of an INSERT; empty for every other statement. */
  readonly rows: Uint8Array;
  readonly database: string | null;
  readonly settings: ReadonlyMap<string, string>;
  /** Values of `{name:Type}`, in ClickHouse's escaped text form, as in the URL. */
  readonly parameters: ReadonlyMap<string, string>;
  readonly defaultFormat: string;
};

export type Summary = {
  readRows: number;
  readBytes: number;
  writtenRows: number;
  writtenBytes: number;
  seconds: number;
};

export type Answer = {
  /** Called once, before the first write; without a summary when the answer is fetched block by block. */
  begin(summary: Summary | null): void;
  /** Resolves when the client can take more; rejects when it has disconnected. */
  write(bytes: Uint8Array): Promise<void>;
};

const DEFAULT_SETTINGS: ReadonlyMap<string, string> = new Map([
  ['max_execution_time', '60'],
  ['max_memory_usage', String(1024 ** 3)],
]);

/** The engine's memory accounting does not include the text of a whole answer, which can be many times the blocks' size. */
const WHOLE_ANSWER_BYTES = 64 * 1024 ** 2;

const READ_VERBS = new Set(['SELECT', 'WITH', 'SHOW', 'DESCRIBE', 'DESC', 'EXISTS', 'EXPLAIN', 'FROM']);

/**
 * Formats in which every row is independent. The engine writes each fetched block as a document of its own, so a
 * format with a header or a frame (JSON, CSVWithNames) would repeat it in the middle of the answer.
 */
const ROW_FORMATS = new Set([
  'JSONEachRow',
  'JSONStringsEachRow',
  'JSONCompactEachRow',
  'JSONCompactStringsEachRow',
]);

/** True for statements that only read: they can be stopped at any time, and GET may carry them. */
export function isRead(statement: SqlStatement): boolean {
  return READ_VERBS.has(statement.verb);
}

/**
 * A statement with a second SELECT is not fetched by block: the engine would compute a scalar subquery on the event
 * loop's thread, and one slow subquery would block the whole process.
 */
function isFetchedByBlock(call: EngineCall): boolean {
  const { verb, selects, format } = call.statement;
  return (
    (verb === 'SELECT' || verb === 'WITH') && selects === 1 && ROW_FORMATS.has(format ?? call.defaultFormat)
  );
}

/**
 * Runs the call and writes its answer. When `signal` aborts, a read is stopped in the engine. A write is not: half an
 * insert would be stored.
 *
 * @throws EngineException, or what the native binding threw
 */
export async function runCall(
  engine: OpenEngine,
  call: EngineCall,
  answer: Answer,
  signal: AbortSignal,
): Promise<void> {
  const byBlock = isFetchedByBlock(call);
  const connection = engine.connect();
  const stopWatching = isRead(call.statement) ? killOnAbort(engine, call.id, signal) : () => {};
  try {
    for (const statement of preparation(call, byBlock)) {
      await engine.native.QueryAsyncConnection(connection, statement, 'TSV');
    }
    if (signal.aborted) throw exceptions.cancelled();
    if (call.statement.takesRows) await insertRows(engine, connection, call, answer);
    else if (byBlock) await fetchBlocks(engine, connection, call, answer, signal);
    else await answerWhole(engine, connection, call, answer);
  } finally {
    stopWatching();
    engine.native.CloseConnection(connection);
  }
}

function preparation(call: EngineCall, byBlock: boolean): string[] {
  const settings = new Map([...DEFAULT_SETTINGS, ...call.settings, ['log_comment', call.id]]);
  if (isRead(call.statement) && !byBlock && !settings.has('max_result_bytes')) {
    settings.set('max_result_bytes', String(WHOLE_ANSWER_BYTES));
  }
  const assignments = [...settings].map(([name, value]) => `${plainName(name)} = ${sqlString(value)}`);
  for (const [name, value] of call.parameters) {
    assignments.push(`${plainName(`param_${name}`)} = ${sqlString(value)}`);
  }
  const set = `SET ${assignments.join(', ')}`;
  return call.database === null ? [set] : [`USE ${sqlName(call.database)}`, set];
}

async function insertRows(engine: OpenEngine, connection: Connection, call: EngineCall, answer: Answer) {
  const { native } = engine;
  const result = await native.InsertRawAsyncConnection(connection, call.statement.sql, call.rows, false);
  if (result.rowsWritten === 0) {
    throw new EngineException(
      1002,
      'UNKNOWN_EXCEPTION',
      'The engine took the rows but confirmed none of them.',
    );
  }
  answer.begin({
    readRows: result.rowsWritten,
    readBytes: result.bytesWritten,
    writtenRows: result.rowsWritten,
    writtenBytes: result.bytesWritten,
    seconds: result.elapsed,
  });
}

async function answerWhole(engine: OpenEngine, connection: Connection, call: EngineCall, answer: Answer) {
  const { native } = engine;
  const result = await native.QueryAsyncConnection(connection, call.statement.sql, call.defaultFormat);
  answer.begin({
    readRows: result.rowsRead,
    readBytes: result.bytesRead,
    writtenRows: 0,
    writtenBytes: 0,
    seconds: result.elapsed,
  });
  if (result.bytes.length > 0) await answer.write(result.bytes);
}

/** The first block is fetched before the answer begins, so that most errors still get their own HTTP status. */
async function fetchBlocks(
  engine: OpenEngine,
  connection: Connection,
  call: EngineCall,
  answer: Answer,
  signal: AbortSignal,
): Promise<void> {
  const { native } = engine;
  const stream = native.StreamQuery(connection, call.statement.sql, call.defaultFormat);
  let chunk = await native.StreamFetch(stream);
  try {
    answer.begin(null);
    while (!chunk.done) {
      if (chunk.bytes.length > 0) await answer.write(chunk.bytes);
      if (signal.aborted) throw exceptions.cancelled();
      chunk = await native.StreamFetch(stream);
    }
  } finally {
    if (!chunk.done) native.StreamCancel(stream);
  }
}

const KILL_AGAIN_MS = 100;

/**
 * Stops the call's query in the engine once the signal aborts, and again until the call has ended: the first KILL
 * QUERY can come before the engine has listed the query. The engine does not let a caller choose the query id; the
 * `log_comment` setting is in the same list.
 */
function killOnAbort(engine: OpenEngine, id: string, signal: AbortSignal): () => void {
  let timer: NodeJS.Timeout | undefined;
  let ended = false;
  async function kill(): Promise<void> {
    const connection = engine.connect();
    try {
      const sql = `KILL QUERY WHERE Settings['log_comment'] = ${sqlString(id)} ASYNC`;
      await engine.native.QueryAsyncConnection(connection, sql, 'TSV');
    } catch {
      // The query may have just ended, and then there is nothing to stop.
    } finally {
      engine.native.CloseConnection(connection);
    }
    if (!ended) timer = setTimeout(() => void kill(), KILL_AGAIN_MS);
  }
  const onAbort = () => void kill();
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return () => {
    ended = true;
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  };
}
