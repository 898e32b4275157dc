import type { Exchange } from './exchange.ts';

/** Ends the span of a request, if it has one. `status` is undefined where the caller left before it was sent. */
export function endRequestSpan(exchange: Exchange, status: number | undefined): void {
  const { id, span, request, operation, routePath, session } = exchange;
  const method = request.method ?? '';
  span?.end(
    {
      'http.request.method': method,
      'http.route': routePath,
      'http.response.status_code': status,
      'gatehouse.request_id': id,
      'gatehouse.operation': operation,
      'gatehouse.organization_id': session?.organizationId,
    },
    status !== undefined && status >= 500 ? String(status) : undefined,
    routePath === undefined ? method : `${method} ${routePath}`,
  );
}
