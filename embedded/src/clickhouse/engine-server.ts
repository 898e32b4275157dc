/**
 * An HTTP front for the engine, as much like a ClickHouse server's as the official client needs: /ping, and / for
 * queries, commands and inserts. Beside it /watch answers with a response that stays open for as long as the engine
 * lives, so that other processes learn of its end at once.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type Answer, isRead, type OpenEngine, runCall, type Summary } from './engine-call.ts';
import { bodyHoldsRows, readBody, readTarget, refuseEncodings, toCall } from './engine-request.ts';
import { type EngineException, exceptions, httpStatusOf, toEngineException } from './exceptions.ts';
import { ENGINE_PID_HEADER, FAREWELL, OWNER_PID_HEADER } from './probe.ts';
import { createSlots } from './slots.ts';

/** One more than the questions of analytics have at once, so that rows and times of last use need not wait for them. */
const RUNNING = 4;
const WAITING = 256;
/** A receiver that takes nothing for this long loses its answer, for it holds one of the few places. */
const STALL_MS = 30_000;
/** Longer than the client keeps an idle connection, so that it never writes into one that is being closed. */
const KEEP_ALIVE_MS = 60_000;
/** Parameters travel in the URL; the same limit as a ClickHouse server's. */
const HEADER_BYTES = 1024 ** 2;

export type EngineServer = {
  readonly http: Server;
  /** Takes no new calls and ends the watches; calls under way go on. */
  close(): void;
  /** Stops the reads that run or wait. */
  abortReads(): void;
  /** Settles when no call is under way. */
  idle(): Promise<void>;
};

export function createEngineServer(engine: OpenEngine): EngineServer {
  const slots = createSlots({ running: RUNNING, waiting: WAITING });
  const watches = new Set<ServerResponse>();
  const reads = new Set<AbortController>();
  const calls = new Set<Promise<void>>();
  let closing = false;

  async function answerCall(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    let release = () => {};
    try {
      if (closing) throw exceptions.stopping();
      const target = readTarget(url);
      response.setHeader('X-ClickHouse-Query-Id', target.queryId.replaceAll(/[^\x20-\x7e]/g, '?'));
      refuseEncodings(request);
      const holdsRows = bodyHoldsRows(target);
      if (holdsRows) release = await slots.enter('write', gone.signal);
      const call = toCall(request.method, target, await readBody(request, holdsRows));
      const read = isRead(call.statement);
      if (read) reads.add(gone);
      if (!holdsRows) release = await slots.enter(read ? 'read' : 'write', gone.signal);
      if (call.statement.takesRows && call.rows.length === 0) {
        response.setHeader('X-ClickHouse-Summary', summaryText(NOTHING));
      } else {
        await runCall(engine, call, createAnswer(response, gone), gone.signal);
      }
      response.end();
    } catch (error) {
      fail(response, toEngineException(error), engine.version);
    } finally {
      release();
      reads.delete(gone);
    }
  }

  function handle(request: IncomingMessage, response: ServerResponse): void {
    // Written to after its caller has gone, a response emits an error, which unheard would end the process.
    response.on('error', () => {});
    const url = URL.parse(request.url ?? '/', 'http://engine');
    response.setHeader(ENGINE_PID_HEADER, process.pid);
    response.setHeader(OWNER_PID_HEADER, process.ppid);
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
      response.writeHead(404).end('There is no handle at this path and method.\n');
    }
  }

  const http = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, maxHeaderSize: HEADER_BYTES }, handle);
  return {
    http,
    close() {
      closing = true;
      http.close();
      for (const watch of watches) watch.end(FAREWELL);
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

function createAnswer(response: ServerResponse, gone: AbortController): Answer {
  return {
    begin(summary) {
      if (summary === null) {
        response.setHeader('X-ClickHouse-Exception-Tag', randomBytes(8).toString('hex'));
        response.flushHeaders();
      } else response.setHeader('X-ClickHouse-Summary', summaryText(summary));
    },
    async write(bytes) {
      if (gone.signal.aborted) throw exceptions.cancelled();
      if (response.write(bytes)) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(() => gone.abort(), STALL_MS);
      gone.signal.addEventListener('abort', finish);
      response.on('drain', finish);
      function finish(): void {
        clearTimeout(timer);
        gone.signal.removeEventListener('abort', finish);
        response.off('drain', finish);
        resolve();
      }
      await promise;
      if (gone.signal.aborted) throw exceptions.cancelled();
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
 * Before the answer has begun an exception gets its own HTTP status. After that it can only follow the rows, in the
 * frame that the client looks for; an answer cut off without it would look complete.
 */
function fail(response: ServerResponse, exception: EngineException, version: string): void {
  const message = `${exception.message} (version ${version})\n`;
  if (!response.headersSent) {
    response.writeHead(httpStatusOf(exception.code), {
      'X-ClickHouse-Exception-Code': exception.code,
      'Content-Type': 'text/plain; charset=UTF-8',
    });
    response.end(message);
    // The caller may still be sending, and only afterwards reads what it was told.
    response.req.resume();
    return;
  }
  const tag = response.getHeader('X-ClickHouse-Exception-Tag');
  const length = Buffer.byteLength(message);
  response.end(`\r\n__exception__\r\n${tag}\r\n${message}${length} ${tag}\r\n__exception__\r\n`);
}
