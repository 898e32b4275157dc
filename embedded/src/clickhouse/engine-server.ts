/**
 * The engine's HTTP interface: as much of a ClickHouse server's as the official client needs, which is /ping, and / for
 * queries, commands and inserts. In addition the response of /watch stays open as long as the engine lives, so that
 * other processes learn of its end at once.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type Answer, isRead, type OpenEngine, runCall, type Summary } from './engine-call.ts';
import { bodyHoldsRows, readBody, readTarget, rejectEncodings, toCall } from './engine-request.ts';
import { ENGINE_PID_HEADER, LEADER_PID_HEADER, STOPPING_MESSAGE } from './engine-status.ts';
import { type EngineException, exceptions, httpStatusOf, toEngineException } from './exceptions.ts';
import { createQueryPermits } from './query-permits.ts';

/** One more than analytics queries run at once, so that inserts need not wait for them. */
const RUNNING = 4;
const WAITING = 256;
/** A client that reads nothing for this long loses its answer, because it holds one of the few permits. */
const STALL_MS = 30_000;
/** Longer than the client keeps an idle connection, so that it never writes to one that is being closed. */
const KEEP_ALIVE_MS = 60_000;
/** Parameters travel in the URL; the same limit as a ClickHouse server's. */
const HEADER_BYTES = 1024 ** 2;

export type EngineServer = {
  readonly http: Server;
  /** Refuses new calls and ends the watches; running calls continue. */
  close(): void;
  /** Stops the running and waiting reads. */
  abortReads(): void;
  /** Resolves when no call runs. */
  idle(): Promise<void>;
};

export function createEngineServer(engine: OpenEngine): EngineServer {
  const permits = createQueryPermits({ running: RUNNING, waiting: WAITING });
  const watches = new Set<ServerResponse>();
  const reads = new Set<AbortController>();
  const calls = new Set<Promise<void>>();
  let closing = false;

  async function answerCall(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const disconnected = new AbortController();
    response.on('close', () => disconnected.abort());
    let release = () => {};
    try {
      if (closing) throw exceptions.stopping();
      const target = readTarget(url);
      response.setHeader('X-ClickHouse-Query-Id', target.queryId.replaceAll(/[^\x20-\x7e]/g, '?'));
      rejectEncodings(request);
      const holdsRows = bodyHoldsRows(target);
      if (holdsRows) release = await permits.acquire('write', disconnected.signal);
      const call = toCall(request.method, target, await readBody(request, holdsRows));
      const read = isRead(call.statement);
      if (read) reads.add(disconnected);
      if (!holdsRows) release = await permits.acquire(read ? 'read' : 'write', disconnected.signal);
      if (call.statement.takesRows && call.rows.length === 0) {
        response.setHeader('X-ClickHouse-Summary', summaryText(NOTHING));
      } else {
        await runCall(engine, call, createAnswer(response, disconnected), disconnected.signal);
      }
      response.end();
    } catch (error) {
      fail(response, toEngineException(error), engine.version);
    } finally {
      release();
      reads.delete(disconnected);
    }
  }

  function handle(request: IncomingMessage, response: ServerResponse): void {
    // A write after the client has disconnected emits an error, which unhandled would end the process.
    response.on('error', () => {});
    const url = URL.parse(request.url ?? '/', 'http://engine');
    response.setHeader(ENGINE_PID_HEADER, process.pid);
    response.setHeader(LEADER_PID_HEADER, process.ppid);
    if (url === null) {
      response.writeHead(400).end('The path is malformed.\n');
    } else if (
      url.pathname === '/ping' ||
      (url.pathname === '/' && request.method === 'GET' && url.search === '')
    ) {
      response.end('Ok.\n');
    } else if (url.pathname === '/watch') {
      watches.add(response);
      response.on('close', () => watches.delete(response));
      response.flushHeaders();
    } else if (url.pathname === '/' && (request.method === 'GET' || request.method === 'POST')) {
      const call = answerCall(request, response, url);
      calls.add(call);
      void call.finally(() => calls.delete(call));
    } else {
      response.writeHead(404).end('Not found.\n');
    }
  }

  const http = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, maxHeaderSize: HEADER_BYTES }, handle);
  return {
    http,
    close() {
      closing = true;
      http.close();
      for (const watch of watches) watch.end(STOPPING_MESSAGE);
      http.closeIdleConnections();
    },
    abortReads() {
      for (const read of reads) read.abort();
    },
    async idle() {
      while (calls.size > 0) await Promise.all(calls);
    },
  };
}

function createAnswer(response: ServerResponse, disconnected: AbortController): Answer {
  return {
    begin(summary) {
      if (summary === null) {
        response.setHeader('X-ClickHouse-Exception-Tag', randomBytes(8).toString('hex'));
        response.flushHeaders();
      } else response.setHeader('X-ClickHouse-Summary', summaryText(summary));
    },
    async write(bytes) {
      if (disconnected.signal.aborted) throw exceptions.cancelled();
      if (response.write(bytes)) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(() => disconnected.abort(), STALL_MS);
      disconnected.signal.addEventListener('abort', finish);
      response.on('drain', finish);
      function finish(): void {
        clearTimeout(timer);
        disconnected.signal.removeEventListener('abort', finish);
        response.off('drain', finish);
        resolve();
      }
      await promise;
      if (disconnected.signal.aborted) throw exceptions.cancelled();
    },
  };
}

const NOTHING: Summary = { readRows: 0, readBytes: 0, writtenRows: 0, writtenBytes: 0, seconds: 0 };

function summaryText(summary: Summary): string {
  return JSON.stringify({
    read_rows: String(summary.readRows),
    read_bytes: String(summary.readBytes),
    written_rows: String(summary.writtenRows),
    written_bytes: String(summary.writtenBytes),
    total_rows_to_read: '0',
    result_rows: '0',
    result_bytes: '0',
    elapsed_ns: String(Math.round(summary.seconds * 1e9)),
  });
}

/**
 * Before the answer has begun, an exception gets its own HTTP status. After that it can only follow the rows, in the
 * frame that the client looks for; without it a truncated answer would look complete.
 */
function fail(response: ServerResponse, exception: EngineException, version: string): void {
  const message = `${exception.message} (version ${version})\n`;
  if (!response.headersSent) {
    response.writeHead(httpStatusOf(exception.code), {
      'X-ClickHouse-Exception-Code': exception.code,
      'Content-Type': 'text/plain; charset=UTF-8',
    });
    response.end(message);
    // The client may still be sending. It reads the answer only afterwards.
    response.req.resume();
    return;
  }
  const tag = response.getHeader('X-ClickHouse-Exception-Tag');
  const length = Buffer.byteLength(message);
  response.end(`\r\n__exception__\r\n${tag}\r\n${message}${length} ${tag}\r\n__exception__\r\n`);
}
