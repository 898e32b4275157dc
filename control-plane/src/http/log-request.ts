import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Session } from './implement.ts';
import { pathOf } from './request-target.ts';
import { goneSignal } from './stream.ts';

const sessionOfRequest = Symbol('session');

declare module 'http' {
  interface IncomingMessage {
    [sessionOfRequest]?: Session;
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: string;
  }
}

/** Keeps whose request it is for its line in the log. */
export function rememberSession(request: FastifyRequest, session: Session): void {
  request.raw[sessionOfRequest] = session;
}

/**
 * One line a request, also where the caller went before it had the whole answer: `gone`, and a status only if that had
 * been sent. The query and the bodies stay out, and the path is the route's: they can hold what is
 * nobody's business. Guarded by log-request.http.test.ts.
 */
export function logRequests(server: FastifyInstance, log: Logger): void {
  const open = new Set<Promise<void>>();
  server.addHook('onRequest', async (request, reply) => {
    goneSignal(reply).addEventListener('abort', () => logRequest(log, request, reply), { once: true });
    const over = Promise.withResolvers<void>();
    open.add(over.promise);
    reply.raw.once('close', () => {
      open.delete(over.promise);
      over.resolve();
    });
  });
  server.addHook('onResponse', async (request, reply) => logRequest(log, request, reply));
  // The connections are closed then, but of answers that were cut off Node tells a moment later.
  server.addHook('onClose', async () => {
    await Promise.all(open);
  });
}

function logRequest(log: Logger, request: FastifyRequest, reply: FastifyReply): void {
  const session = request.raw[sessionOfRequest];
  const isGone = !reply.raw.writableFinished;
  log.info(
    {
      request_id: request.id,
      operation: request.routeOptions.config.operation,
      method: request.method,
      path: request.routeOptions.url ?? unknownPath(request.url),
      status: isGone && !reply.raw.headersSent ? undefined : reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      gone: isGone || undefined,
      organization_id: session?.organizationId,
      user_id: session?.userId,
    },
    'request',
  );
}

// A key that was put into a wrong path, or into the right one with a wrong method, is a secret all the same.
function unknownPath(url: string): string {
  return pathOf(url)
    .replaceAll(/sk_svc_\w+/gi, 'sk_svc_...')
    .slice(0, 200);
}
