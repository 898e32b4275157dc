import { systemClock } from '@gatehouse/concurrency';
import { pathOf, requestLogFields } from '@gatehouse/http';
import type { Logger } from 'pino';
import type { Exchange } from './exchange.ts';

/**
 * One line a request. Where the caller left before it had the whole answer the line says `gone`, and has a status only if
 * that was sent. It leaves out the query and the bodies, and its path is the endpoint's: all of these can hold private
 * data. Guarded by log-request.http.test.ts.
 */
export function logRequest(exchange: Exchange, log: Logger): void {
  const { id, request, response, operation, routePath, session, startedAtMs } = exchange;
  const isGone = !response.writableFinished;
  log.info(
    {
      ...requestLogFields({
        request_id: id,
        operation,
        method: request.method,
        path: routePath ?? maskKeys(pathOf(exchange.target)),
        status: isGone && !response.headersSent ? undefined : response.statusCode,
        ms: systemClock.monotonicMs() - startedAtMs,
      }),
      gone: isGone || undefined,
      organization_id: session?.organizationId,
      user_id: session?.userId,
    },
    'request',
  );
}

// A gateway key in a wrong path, or with a wrong method, is still a secret.
function maskKeys(path: string): string {
  return path.replaceAll(/sk_svc_\w+/gi, 'sk_svc_...');
}
