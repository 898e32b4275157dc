/**
 * Parses an HTTP request of ClickHouse's interface into a call for the engine: settings, `param_*` values, the database
 * and the query are in the URL; the query or the rows in the body.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { parseSql, type SqlStatement } from '@gatehouse/store/clickhouse-sql';
import { type EngineCall, isRead } from './engine-call.ts';
import { exceptions } from './exceptions.ts';

const BODY_LIMIT_BYTES = 128 * 1024 ** 2;
const SQL_LIMIT_BYTES = 8 * 1024 ** 2;

/** Parameters without effect here: there is one user, and an answer begins only once it cannot fail early. */
const IGNORED = new Set([
  'user',
  'password',
  'quota_key',
  'buffer_size',
  'wait_end_of_query',
  'stacktrace',
  'session_check',
  'session_timeout',
  'close_session',
  'client_protocol_version',
]);

export type Target = {
  readonly query: string;
  readonly queryId: string;
  readonly database: string | null;
  readonly defaultFormat: string;
  readonly settings: ReadonlyMap<string, string>;
  readonly parameters: ReadonlyMap<string, string>;
};

/** Reads the URL. @throws EngineException for what a session-less engine without compression cannot do */
export function readTarget(url: URL): Target {
  const settings = new Map<string, string>();
  const parameters = new Map<string, string>();
  const named = new Map<string, string>();
  for (const [name, value] of url.searchParams) {
    if (name === 'session_id' || name === 'role')
      throw exceptions.notImplemented(`${name} is not supported here.`);
    if ((name === 'compress' || name === 'decompress') && value !== '0') {
      throw exceptions.notImplemented('Compression in the native format is not supported here.');
    }
    if (name.startsWith('param_')) parameters.set(name.slice('param_'.length), value);
    else if (['query', 'query_id', 'database', 'default_format'].includes(name)) named.set(name, value);
    else if (!IGNORED.has(name) && name !== 'compress' && name !== 'decompress') settings.set(name, value);
  }
  return {
    query: named.get('query') ?? '',
    queryId: named.get('query_id') || randomUUID(),
    database: named.get('database') || null,
    defaultFormat: named.get('default_format') || 'TabSeparated',
    settings,
    parameters,
  };
}

/** Rejects encoded bodies, which would otherwise be read as SQL or rows. */
export function rejectEncodings(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    throw exceptions.notImplemented(
      `Content-Encoding ${encoding} is not supported here; send the body as it is.`,
    );
  }
  if (request.headers['content-type']?.startsWith('multipart/')) {
    throw exceptions.notImplemented('Multipart bodies are not supported here; send parameters in the URL.');
  }
}

/** True when the body can only contain rows: it is then read after the permit is granted, not before. */
export function bodyHoldsRows(target: Target): boolean {
  return parseSql(target.query).at(-1)?.takesRows ?? false;
}

/** @throws EngineException when the body is too long, or the client disconnected before its end */
export async function readBody(request: IncomingMessage, holdsRows: boolean): Promise<Buffer> {
  const limit = holdsRows ? BODY_LIMIT_BYTES : SQL_LIMIT_BYTES;
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    // Leaving the loop must not destroy the connection, which the error answer needs.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      length += chunk.length;
      if (length > limit) break;
      chunks.push(chunk);
    }
  } catch {
    throw exceptions.cancelled();
  }
  if (length > limit) throw exceptions.tooLarge(`The body is longer than ${limit} bytes.`);
  if (!request.complete) throw exceptions.cancelled();
  return Buffer.concat(chunks);
}

/** Joins URL and body into the call. @throws EngineException when that is not exactly one statement */
export function toCall(method: string | undefined, target: Target, body: Buffer): EngineCall {
  const [first, ...others] = parseSql(target.query);
  if (first?.takesRows && others.length === 0 && first.format?.toUpperCase() !== 'VALUES') {
    const inline = first.rows.trim() === '' ? '' : `${first.rows}\n`;
    return finishCall(method, target, first, Buffer.concat([Buffer.from(inline), body]));
  }
  const statements = parseSql([target.query, decode(body)].filter((part) => part !== '').join('\n'));
  const statement = statements[0];
  if (statement === undefined) throw exceptions.syntax('Syntax error: Empty query.');
  if (statements.length > 1) throw exceptions.syntax('Syntax error (Multi-statements are not allowed).');
  return finishCall(method, target, statement, Buffer.from(statement.rows));
}

function finishCall(
  method: string | undefined,
  target: Target,
  statement: SqlStatement,
  rows: Buffer,
): EngineCall {
  if (method === 'GET' && !isRead(statement)) {
    throw exceptions.readonly(`Cannot execute ${statement.verb} in a GET request; use POST.`);
  }
  const { database, defaultFormat, settings, parameters } = target;
  const trimmed = trimBlankLines(rows);
  if (statement.format?.toUpperCase() !== 'VALUES' && trimmed.includes('\n\n')) {
    throw exceptions.badRows(
      'The rows contain a blank line, which the embedded engine would read as their end.',
    );
  }
  return { id: randomUUID(), statement, rows: trimmed, database, defaultFormat, settings, parameters };
}

const NEWLINE = 10;
const RETURN = 13;

function trimBlankLines(rows: Buffer): Buffer {
  let start = 0;
  let end = rows.length;
  while (start < end && (rows[start] === NEWLINE || rows[start] === RETURN)) start++;
  while (end > start && rows[end - 1] === NEWLINE) end--;
  return rows.subarray(start, end);
}

function decode(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw exceptions.syntax('The query is not valid UTF-8.');
  }
}
