import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { createRequestQueues } from '@gatehouse/http';
import type { Logger } from 'pino';
import { answerClientError } from './client-error.ts';

const REQUEST_TIMEOUT_MS = 15_000;

/** What Fastify is told of connections: their limits, and that the requests of each are handled one after the other. */
export function listenerOptions(log: Logger) {
  const queues = createRequestQueues({ timeoutMs: REQUEST_TIMEOUT_MS });
  return {
    serverFactory: (handle: RequestListener): Server =>
      createServer(
        {
          requestTimeout: REQUEST_TIMEOUT_MS,
          headersTimeout: 9_000,
          connectionsCheckingInterval: 500,
          keepAliveTimeout: 65_000,
          // Refused by the adapter: what Node answers by itself has none of the headers that every answer has.
          requireHostHeader: false,
        },
        (request, response) => queues.accept(request, response, () => handle(request, response)),
      ),
    clientErrorHandler: (error: Error & { code?: string }, socket: Socket) =>
      queues.refuse(error, socket, () => answerClientError(error, socket, log)),
  };
}
