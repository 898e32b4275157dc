import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Registry, systemClock } from '@gatehouse/concurrency';
import { answerMalformed, type MalformedAnswers } from './malformed-request.ts';
import { parseInSlices } from './parse-in-slices.ts';
import { createRequestQueues } from './request-queues.ts';
import { type Certificate, createWebServer, replaceCertificate } from './tls.ts';

// Node checks the timeouts at intervals, so a request may take this much longer than its limit.
const CHECK_INTERVAL_MS = 500;
// Longer than the usual idle limit of a load balancer in front, so that it is the balancer that closes first.
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

/** A request whose turn on its connection has come. */
export interface Arrival {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The request of its `Expect` header; always `none` unless the handler answers expectations. */
  readonly expectation: 'none' | '100-continue' | 'unknown';
  /** Resolves when the next request of the connection has begun, at once where none waits. */
  nextBegun(): Promise<void>;
}

export interface ListenerOptions {
  readonly headersTimeoutMs: number;
  /** For the whole request, headers and body. */
  readonly requestTimeoutMs: number;
  /** If not, Node sends 100 Continue by itself and any other expectation is ignored. */
  readonly answersExpectations: boolean;
  /**
   * True if a body that is late or malformed is answered here although a handler has begun. If not, the connection is closed: such a
   * handler answers slow bodies itself.
   */
  readonly answersDuringHandling: boolean;
  readonly malformed: MalformedAnswers;
  /** With it the listener speaks HTTPS only. */
  readonly certificate?: Certificate | undefined;
  readonly onRequest: (arrival: Arrival) => void;
}

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** Other processes of this user may listen there too; each connection goes to one of them. */
  readonly reusePort?: boolean;
}

export interface Listener {
  readonly server: Server;
  /** Accepts connections from here on. Port 0 takes a free one; the result says which. */
  listen(address: ListenAddress): Promise<{ readonly port: number }>;
  /** New connections get this certificate. To be called only on a listener that has one. */
  useCertificate(certificate: Certificate): void;
  /** True if a stop was announced, or has begun. */
  readonly isStopping: boolean;
  /** Everything is still served, and each connection closes after its next answer, so that callers move to another node. */
  announceStop(): void;
  /**
   * Accepts no more connections. Requests in flight are answered, later ones on open connections too, and each
   * connection closes after its answer. Connections without a request close at once, or after the timeout of headers where
   * some came. Resolves when all have closed; a second call joins the first.
   */
  drain(): Promise<void>;
}

/**
 * The HTTP server of a listener: its limits, one request of a connection after the other, and its drain. Not a framework's: of
 * a framework the API would use the router alone, because a body is read only after the session is known, and the gateway nothing.
 */
export function createListener(options: ListenerOptions): Listener {
  const { headersTimeoutMs, requestTimeoutMs, malformed, onRequest } = options;
  const limits = {
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    // Checked with the other hosts: what Node answers by itself lacks the headers that every answer has.
    requireHostHeader: false,
  };
  const server = createWebServer(limits, options.certificate);
  const queues = createRequestQueues({ timeoutMs: requestTimeoutMs });
  const open = new Registry<ServerResponse>();
  const connections = new Registry<Socket>();
  server.on('connection', (socket: Socket) => socket.once('close', connections.add(socket)));
  server.on(options.certificate ? 'secureConnection' : 'connection', (socket: Socket) =>
    parseInSlices(socket, queues),
  );
  let isStopping = false;
  let draining: Promise<void> | undefined;
  let onLastClosed: (() => void) | undefined;

  const begin = (arrival: Arrival): void => {
    const { response } = arrival;
    if (isStopping) response.shouldKeepAlive = false;
    const remove = open.add(response);
    response.once('close', () => {
      remove();
      if (draining === undefined) return;
      server.closeIdleConnections();
      if (open.size === 0) onLastClosed?.();
    });
    onRequest(arrival);
  };

  const accept =
    (expectation: Arrival['expectation']) => (request: IncomingMessage, response: ServerResponse) => {
      const nextBegun = () => queues.nextBegun(request);
      queues.accept(request, response, () => begin({ request, response, expectation, nextBegun }));
    };
  server.on('request', accept('none'));
  server.on('checkExpectation', accept(options.answersExpectations ? 'unknown' : 'none'));
  if (options.answersExpectations) server.on('checkContinue', accept('100-continue'));
  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    queues.handleClientError(error, socket, () => {
      if (!options.answersDuringHandling && queues.isAnswering(socket)) socket.destroy();
      else answerMalformed(error, socket, malformed);
    });
  });

  const closeUnused = (isUnused: (socket: Socket) => boolean): void => {
    const answering = new Set(open.items.map(({ socket }) => socket));
    for (const socket of connections.items) if (!answering.has(socket) && isUnused(socket)) socket.destroy();
  };

  const drain = async (): Promise<void> => {
    // A server that never listened reports that as an error, which changes nothing.
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    // A server that closes checks no timeouts, and a connection without a request is not idle to it. Browsers open such
    // connections ahead of need.
    closeUnused(({ bytesRead }) => bytesRead === 0);
    const cancel = systemClock.after(server.headersTimeout, () => closeUnused(() => true));
    await closed;
    cancel();
    // An answer that was cut off reports its end a moment after its connection.
    if (open.size > 0) {
      await new Promise<void>((resolve) => {
        onLastClosed = resolve;
      });
    }
  };

  return {
    server,
    async listen(address) {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(address, () => {
          server.off('error', reject);
          resolve();
        });
      });
      return { port: (server.address() as AddressInfo).port };
    },
    useCertificate: (certificate) => replaceCertificate(server, certificate),
    get isStopping() {
      return isStopping;
    },
    announceStop() {
      isStopping = true;
    },
    drain() {
      isStopping = true;
      draining ??= drain();
      return draining;
    },
  };
}
