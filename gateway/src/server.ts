import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Settings } from './parts.ts';

// The limits that keep a slow or broken client from costing more than itself: a head must be complete within
// ten seconds, a body within a minute unless the operator says otherwise, and both are looked at every second.
const HEADERS_TIMEOUT_MS = 10_000;
const BODY_TIMEOUT_MS = 60_000;
const CHECK_INTERVAL_MS = 1_000;
// Longer than the usual idle limit of a balancer in front, so that it is the balancer that closes first.
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

type OnRequest = (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean) => void;

/** The HTTP server, with its limits set and what is no HTTP answered. */
export function createHttpServer(settings: Settings, onRequest: OnRequest): Server {
  const bodyTimeoutMs = settings.bodyTimeoutMs ?? BODY_TIMEOUT_MS;
  const server = createServer({
    headersTimeout: Math.min(HEADERS_TIMEOUT_MS, bodyTimeoutMs),
    requestTimeout: bodyTimeoutMs,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
  });
  // A connection with an answer under way must not get a second one written into it.
  const answering = new WeakMap<Socket, number>();
  const accept = (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean) => {
    const { socket } = request;
    answering.set(socket, (answering.get(socket) ?? 0) + 1);
    response.on('close', () => answering.set(socket, (answering.get(socket) ?? 1) - 1));
    onRequest(request, response, expectsContinue);
  };
  server.on('request', (request, response) => accept(request, response, false));
  server.on('checkContinue', (request, response) => accept(request, response, true));
  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    if (error.code === 'ECONNRESET' || !socket.writable || (answering.get(socket) ?? 0) > 0) {
      socket.destroy();
    } else {
      socket.end(malformedAnswer(error.code), () => socket.destroy());
    }
  });
  return server;
}

function malformedAnswer(code: string | undefined): string {
  const [status, message] =
    code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? ['408 Request Timeout', 'The request took too long to arrive.']
      : code === 'HPE_HEADER_OVERFLOW'
        ? ['431 Request Header Fields Too Large', "The request's headers are too large."]
        : ['400 Bad Request', 'The request is not valid HTTP.'];
  const body = JSON.stringify({
    error: { message, type: 'invalid_request_error', param: null, code: 'invalid_request' },
  });
  return [
    `HTTP/1.1 ${status}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${body.length}`,
    'connection: close',
    '',
    body,
  ].join('\r\n');
}
