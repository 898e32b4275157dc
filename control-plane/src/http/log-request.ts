import { systemClock } from '@gatehouse/concurrency';
import { pathOf, requestLogFields } from '@gatehouse/http';
import type { Logger } from 'pino';
import type { ApiMetrics } from './api-metrics.ts';
import { ASSET_ROUTE } from './dashboard/serve-dashboard.ts';
import type { Exchange } from './exchange.ts';
import { endRequestSpan } from './request-span.ts';

const QUIET: ReadonlySet<string> = new Set(['/healthz', '/readyz', ASSET_ROUTE]);

/**
 * One line a request, its counts and the end of its span. Where the caller left before it had the whole answer the line says `gone`, and has a status only if
 * that was sent; `unread` if its connection was closed because it did not read the answer. It leaves out the query and the bodies, and its path is the endpoint's: all of these can hold private
 * data. Guarded by log-request.http.test.ts.
 */
export function logRequest(exchange: Exchange, log: Logger, metrics: ApiMetrics): void {
  const { id, request, response, operation, routePath, session, startedAtMs } = exchange;
  const isGone = !response.writableFinished;
  const status = isGone && !response.headersSent ? undefined : response.statusCode;
  const ms = systemClock.monotonicMs() - startedAtMs;
  metrics.requestEnded(operation, status, ms);
  endRequestSpan(exchange, status);
  // Load balancers and supervisors send probes all the time, and a page of the dashboard loads many files.
  const level = routePath !== undefined && QUIET.has(routePath) ? 'debug' : 'info';
  log[level](
    {
      ...requestLogFields({
        request_id: id,
        operation,
        method: request.method,
        path: routePath ?? maskKeys(pathOf(exchange.target)),
        status,
        ms,
      }),
      gone: isGone || undefined,
      unread: exchange.isUnread || undefined,
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
