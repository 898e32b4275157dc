import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { systemClock } from '@gatehouse/concurrency';
import type { ApiError } from '@gatehouse/contract';
import { BROWSER_SECURITY_HEADERS, requestTarget, UnreadAnswer, type UnreadAnswers } from '@gatehouse/http';
import type { Span } from '@gatehouse/observability';
import type { Caller } from './caller.ts';
import type { Session } from './implement.ts';

/** A longer text is made into bytes once, and written in pieces. */
const LONG_TEXT = 64 * 1024;

/** One request and its answer in flight. */
export class Exchange {
  readonly id = randomUUID();
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The target without scheme and host, with a path that can be decoded. */
  readonly target: string;
  readonly startedAtMs: number;
  /** The headers that the answer will have. */
  readonly headers: OutgoingHttpHeaders = { ...BROWSER_SECURITY_HEADERS };
  /** The contract's name and path of the endpoint; undefined where none was found. */
  operation: string | undefined;
  routePath: string | undefined;
  /** Undefined where nothing is traced. */
  span: Span | undefined;
  /** Undefined before the session is found, and for public endpoints. */
  session: Session | undefined;
  readonly caller: Caller;
  readonly #unreadAnswers: UnreadAnswers;
  #body: UnreadAnswer | undefined;
  readonly #gone = new AbortController();

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    caller: Caller,
    unreadAnswers: UnreadAnswers,
  ) {
    this.caller = caller;
    this.#unreadAnswers = unreadAnswers;
    this.request = request;
    this.response = response;
    this.target = requestTarget(request.url ?? '/');
    this.startedAtMs = systemClock.monotonicMs();
    this.headers['x-request-id'] = this.id;
    // A connection that breaks is reported here too. Its meaning is decided at 'close'.
    request.on('error', ignore);
    response.on('error', ignore);
    response.once('close', () => {
      if (!response.writableFinished) this.#gone.abort(new CallerGone());
    });
  }

  /** Aborts when the connection closes before the answer is sent. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** The body of the answer, counted for the organisation, or for the network of a caller without a session. */
  get body(): UnreadAnswer {
    const owner = this.session?.organizationId ?? this.caller.network ?? '';
    this.#body ??= new UnreadAnswer(this.#unreadAnswers, owner, this.response);
    return this.#body;
  }

  /** True if the connection was closed because its caller did not read the answer. */
  get isUnread(): boolean {
    return this.#body?.isClosed === true;
  }

  header(name: string): string | undefined {
    return headerOf(this.request.headers, name);
  }

  sendJson(status: number, body: unknown): void {
    this.send(status, 'application/json; charset=utf-8', JSON.stringify(body));
  }

  sendError(error: ApiError): void {
    Object.assign(this.headers, error.headers);
    this.send(error.status, 'application/json; charset=utf-8', error.bodyText);
  }

  send(status: number, contentType: string, body: string): void {
    if (this.response.headersSent || this.response.destroyed) return;
    this.headers['content-type'] = contentType;
    if (body.length > LONG_TEXT) {
      const bytes = Buffer.from(body);
      void this.sendBytes(status, bytes, bytes.length);
      return;
    }
    this.headers['content-length'] = Buffer.byteLength(body);
    this.response.writeHead(status, this.headers);
    this.body.end(body);
  }

  /** `keptBytes`: how much of them is in memory for this answer alone. */
  async sendBytes(status: number, bytes: Uint8Array, keptBytes: number): Promise<void> {
    this.headers['content-length'] = bytes.length;
    this.response.writeHead(status, this.headers);
    if (this.request.method !== 'HEAD') await this.body.write(bytes, keptBytes);
    this.body.end();
  }
}

/** The caller closed the connection before it had its answer. */
class CallerGone extends Error {
  override readonly name = 'CallerGone';
  constructor() {
    super('the caller closed the connection');
  }
}

function ignore(): void {}

function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
