import type { Readable } from 'node:stream';
import type { Pool as ConnectionPool, Dispatcher } from 'undici';
// The package's front door loads five times as much: fetch, WebSocket, caches and mocks.
import Pool from 'undici/lib/dispatcher/pool.js';
import { createConnector } from './connector.ts';
import { OutgoingBody } from './outgoing-body.ts';
import type { Upstream, UpstreamListener } from './upstream.ts';

// One pool for each origin. `dispatch` is used bare, without a stream or a promise in between: the handler below
// is called from the parser, which is what keeps the cost of a hop low.

// Each stream takes one for as long as it lasts: a request beyond these waits for another tenant's stream to end.
export const CONNECTIONS = 2_048;
export const CONNECT_TIMEOUT_MS = 5_000;
// The gateway's own timer ends a request first and knows how to say so.
const TIMEOUT_SLACK_MS = 5_000;
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
/**
 * A body up to this size is given to the client library as it is, which writes it together with the head. The library keeps
 * it until the answer has ended: together with CONNECTIONS at most 32 MiB for each origin.
 */
const KEPT_BODY_BYTES = 16 * 1024;

export interface HttpUpstreams {
  /** The upstream at a base URL such as `https://api.openai.com/v1`; undefined when that is no http(s) URL. */
  at(baseUrl: string): Upstream | undefined;
  close(): Promise<void>;
}

export function createHttpUpstreams(): HttpUpstreams {
  const pools = new Map<string, ConnectionPool>();
  const upstreams = new Map<string, Upstream | undefined>();

  const poolOf = (origin: string): ConnectionPool => {
    const existing = pools.get(origin);
    if (existing) return existing;
    const pool = new Pool(origin, {
      connections: CONNECTIONS,
      pipelining: 1,
      allowH2: false,
      connect: createConnector(CONNECT_TIMEOUT_MS),
    });
    pools.set(origin, pool);
    return pool;
  };

  return {
    at(baseUrl) {
      if (!upstreams.has(baseUrl)) {
        const url = URL.parse(baseUrl);
        const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
        upstreams.set(baseUrl, url && isHttp ? createHttpUpstream(url, poolOf(url.origin)) : undefined);
      }
      return upstreams.get(baseUrl);
    },
    async close() {
      await Promise.all(Array.from(pools.values(), (pool) => pool.destroy()));
    },
  };
}

function createHttpUpstream(baseUrl: URL, pool: ConnectionPool): Upstream {
  const basePath = baseUrl.pathname.replace(/\/+$/, '');
  return {
    send(request, listener) {
      const { body, onBodySent } = request;
      const isKept = body.length <= KEPT_BODY_BYTES;
      const handler = new Handler(listener, onBodySent);
      const timeoutMs = Math.min(request.timeoutMs + TIMEOUT_SLACK_MS, MAX_TIMEOUT_MS);
      pool.dispatch(
        {
          method: 'POST',
          path: basePath + request.path + withQuery(baseUrl.search, request.query),
          headers: headerList(request.headers, body.length),
          // An iterable is taken too, which its type does not say.
          body: isKept ? body : (new OutgoingBody(body) as unknown as Readable),
          headersTimeout: timeoutMs,
          bodyTimeout: timeoutMs,
        },
        handler,
      );
      return handler;
    },
  };
}

function withQuery(search: string, query: Readonly<Record<string, string>>): string {
  if (Object.keys(query).length === 0) return search;
  const added = new URLSearchParams(query).toString();
  return search === '' ? `?${added}` : `${search}&${added}`;
}

/** Names and values in turn. */
function headerList(headers: Readonly<Record<string, string>>, contentLength: number): string[] {
  const list = ['content-length', String(contentLength)];
  for (const [name, value] of Object.entries(headers)) list.push(name, value);
  return list;
}

class Handler implements Dispatcher.DispatchHandler {
  readonly #listener: UpstreamListener;
  readonly #onBodySent: () => void;
  #controller: Dispatcher.DispatchController | undefined;
  #isAborted = false;
  #isPauseWanted = false;
  /** The bytes that are still to come of an answer that states its length. */
  #missingBytes = Number.POSITIVE_INFINITY;
  /** The parts that the parser has found in the bytes that it was given. A provider may send each event as a chunk of its own. */
  readonly #found: Buffer[] = [];

  constructor(listener: UpstreamListener, onBodySent: () => void) {
    this.#listener = listener;
    this.#onBodySent = onBodySent;
  }

  /**
   * Takes effect once the parser is through with the bytes that it has, 64 KiB at most. Paused in the middle, it would put the rest
   * back and copy it again for each small event. An answer that has come whole is not paused: the client library would report it as
   * broken if its provider closed the connection meanwhile.
   */
  pause(): void {
    if (this.#isPauseWanted || this.#missingBytes <= 0) return;
    this.#isPauseWanted = true;
    queueMicrotask(() => {
      if (this.#isPauseWanted) this.#controller?.pause();
    });
  }

  resume(): void {
    if (!this.#isPauseWanted) return;
    this.#isPauseWanted = false;
    this.#controller?.resume();
  }

  abort(): void {
    this.#isAborted = true;
    this.#controller?.abort(new Error('aborted by the gateway'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It was aborted while it waited for a connection.
    if (this.#isAborted) controller.abort(new Error('aborted by the gateway'));
    else this.#listener.onStart();
  }

  /** Called by the client library, although its type does not say so. */
  onRequestSent(): void {
    this.#onBodySent();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    // Early hints and the like: the answer's own head is still to come.
    if (status < 200) return;
    const stated = headers['content-length'];
    // The client library has checked that it is a number.
    if (typeof stated === 'string') this.#missingBytes = Number(stated);
    if (!this.#isAborted) this.#listener.onHead(status, headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#missingBytes -= chunk.length;
    // The parser asks after this call whether it is paused.
    if (this.#missingBytes <= 0) this.resume();
    // The parser is through with its bytes when microtasks run.
    if (this.#found.push(chunk) === 1) queueMicrotask(() => this.#handOver());
  }

  onResponseEnd(): void {
    // The connection may serve another answer from here on.
    this.#isPauseWanted = false;
    this.#missingBytes = 0;
    this.#handOver();
    if (!this.#isAborted) this.#listener.onEnd();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#handOver();
    if (!this.#isAborted) this.#listener.onFailure(error);
  }

  #handOver(): void {
    const found = this.#found.splice(0);
    const [first] = found;
    if (first && !this.#isAborted) this.#listener.onData(found.length === 1 ? first : Buffer.concat(found));
  }
}
