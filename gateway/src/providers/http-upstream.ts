import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { withQuery } from './address-of.ts';
import { type ConnectionOptions, type Connections, openConnections, type Way } from './connections.ts';
import { OutgoingBody } from './outgoing-body.ts';
import type { Upstream, UpstreamCall, UpstreamListener, UpstreamRequest } from './upstream.ts';

// One pool for each origin and way to it. `dispatch` is used bare, without a stream or a promise in between: the handler below
// is called from the parser, which is what keeps the cost of a hop low.

// The gateway's own timer ends a request first and knows how to say so.
const TIMEOUT_SLACK_MS = 5_000;
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
/**
 * A body up to this size is given to the client library as it is, which writes it together with the head. The library keeps
 * it until the answer has ended: together with the 2,048 connections at most 32 MiB for each origin.
 */
const KEPT_BODY_BYTES = 16 * 1024;

export interface HttpUpstreams {
  /**
   * The upstream at a base URL such as `https://api.openai.com/v1`; undefined when that is no http(s) URL, or while files of
   * its TLS cannot be used.
   */
  at(baseUrl: string, way?: Way): Upstream | undefined;
  close(): Promise<void>;
}

const USUAL_WAY: Way = { proxy: null, caFile: null, clientCertFile: null, clientKeyFile: null };

export function createHttpUpstreams(options: ConnectionOptions): HttpUpstreams {
  const all = new Map<string, Connections>();
  const upstreams = new Map<string, HttpUpstream | undefined>();

  const connectionsTo = (origin: string, way: Way): Connections => {
    const name = nameOf(origin, way);
    const connections = all.get(name) ?? openConnections(origin, way, options);
    all.set(name, connections);
    return connections;
  };

  return {
    at(baseUrl, way = USUAL_WAY) {
      const name = nameOf(baseUrl, way);
      if (!upstreams.has(name)) {
        const url = URL.parse(baseUrl);
        const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
        upstreams.set(
          name,
          url && isHttp ? new HttpUpstream(url, connectionsTo(url.origin, way)) : undefined,
        );
      }
      const upstream = upstreams.get(name);
      return upstream?.isUsable ? upstream : undefined;
    },
    async close() {
      await Promise.all(Array.from(all.values(), (connections) => connections.close()));
    },
  };
}

/** The name of an address and the way to it. */
function nameOf(address: string, { proxy, caFile, clientCertFile, clientKeyFile }: Way): string {
  if (proxy === null && caFile === null && clientCertFile === null) return address;
  return JSON.stringify([address, proxy, caFile, clientCertFile, clientKeyFile]);
}

class HttpUpstream implements Upstream {
  readonly #origin: string;
  readonly #basePath: string;
  readonly #search: string;
  readonly #connections: Connections;

  constructor({ origin, pathname, search }: URL, connections: Connections) {
    this.#origin = origin;
    this.#basePath = pathname.replace(/\/+$/, '');
    this.#search = search;
    this.#connections = connections;
  }

  get isUsable(): boolean {
    return this.#connections.pool !== undefined;
  }

  send(request: UpstreamRequest, listener: UpstreamListener): UpstreamCall {
    const { body, onBodySent } = request;
    const isKept = body.length <= KEPT_BODY_BYTES;
    const handler = new Handler(listener, onBodySent);
    const timeoutMs = Math.min(request.timeoutMs + TIMEOUT_SLACK_MS, MAX_TIMEOUT_MS);
    this.#connections.pool?.dispatch(
      {
        origin: this.#origin,
        method: 'POST',
        path: this.#basePath + request.path + withQuery(this.#search, request.query),
        headers: headerList(request.headers, body.length),
        // An iterable is taken too, which its type does not say.
        body: isKept ? body : (new OutgoingBody(body) as unknown as Readable),
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
      },
      handler,
    );
    return handler;
  }
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
    if (this.#isAborted) return;
    // Forwarded by a proxy that refuses, a request fails before the bytes of the refusal come.
    this.#isAborted = true;
    this.#listener.onFailure(error);
  }

  #handOver(): void {
    const found = this.#found.splice(0);
    const [first] = found;
    if (first && !this.#isAborted) this.#listener.onData(found.length === 1 ? first : Buffer.concat(found));
  }
}
