import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { hostFault, type ServedHosts } from '@gatehouse/contract';
import { createRequestQueues } from '@gatehouse/http';
import type { Settings } from '../pipeline/parts.ts';
import type { RequestLines } from '../refused/request-lines.ts';
import { answerClientError } from './client-error.ts';
import { pathOf } from './log-request.ts';
import { hostNotServed, invalidRequest, type Refusal, unknownExpectation } from './refusal.ts';

// The limits that keep a slow or broken client from costing more than itself: a head must be complete within
// ten seconds, a body within a minute unless the operator says otherwise. Both are looked at now and then only,
// so the first limit leaves time for that.
const HEADERS_TIMEOUT_MS = 9_000;
const BODY_TIMEOUT_MS = 60_000;
const CHECK_INTERVAL_MS = 500;
// Longer than the usual idle limit of a balancer in front, so that it is the balancer that closes first.
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const NO_NAMES: ServedHosts = new Set();
// A balancer asks under whatever name it likes.
const HEALTH_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

export interface Arrival {
  /** Whether the caller waits for leave (100 Continue) before it sends the body. */
  readonly expectsContinue: boolean;
  /** Why it is to be refused whatever it asks for. */
  readonly flaw: Refusal | undefined;
  /** Whether a further request of the connection waits for the answer. */
  readonly isFollowed: () => boolean;
}

type OnRequest = (request: IncomingMessage, response: ServerResponse, arrival: Arrival) => void;

/** The HTTP server, with its limits set and what is no HTTP answered. */
export function createHttpServer(settings: Settings, lines: RequestLines, onRequest: OnRequest): Server {
  const bodyTimeoutMs = settings.bodyTimeoutMs ?? BODY_TIMEOUT_MS;
  const server = createServer({
    headersTimeout: Math.min(HEADERS_TIMEOUT_MS, bodyTimeoutMs),
    requestTimeout: bodyTimeoutMs,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    // Refused below: what Node answers by itself has none of the headers that every answer has.
    requireHostHeader: false,
  });
  const queues = createRequestQueues({ timeoutMs: bodyTimeoutMs });
  const accept = (
    request: IncomingMessage,
    response: ServerResponse,
    arrival: Omit<Arrival, 'isFollowed'>,
  ) => {
    const isFollowed = () => queues.isFollowed(request);
    queues.accept(request, response, () => onRequest(request, response, { ...arrival, isFollowed }));
  };
  server.on('request', (request, response) =>
    accept(request, response, { expectsContinue: false, flaw: flawOf(request, settings.allowedHosts) }),
  );
  server.on('checkContinue', (request, response) =>
    accept(request, response, { expectsContinue: true, flaw: flawOf(request, settings.allowedHosts) }),
  );
  server.on('checkExpectation', (request, response) =>
    accept(request, response, { expectsContinue: true, flaw: unknownExpectation() }),
  );
  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    queues.refuse(error, socket, () => {
      // A connection with an answer under way must not get a second one written into it.
      if (error.code === 'ECONNRESET' || !socket.writable || queues.isAnswering(socket)) socket.destroy();
      else answerClientError(error.code, socket, lines);
    });
  });
  return server;
}

function flawOf(request: IncomingMessage, served: ServedHosts = NO_NAMES): Refusal | undefined {
  const fault = hostFault(request, served);
  if (fault === undefined) return undefined;
  if (fault.status === 400) return invalidRequest(fault.sentence);
  return HEALTH_PATHS.has(pathOf(request)) ? undefined : hostNotServed(fault.sentence);
}
