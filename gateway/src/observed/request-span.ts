import { decimalFromMicroPkr } from '@gatehouse/contract';
import type { Exchange } from '../exchange/exchange.ts';
import { type LogContext, statusOf } from './log-request.ts';

/** Ends the span of a request. `route` is the path of its endpoint. */
export function endRequest(exchange: Exchange, context: LogContext, route: string | undefined): void {
  const { span, request, id } = exchange;
  if (!span) return;
  if (!span.isSampled) {
    span.end({});
    return;
  }
  const { operation, key, refusal, finished } = context;
  const status = statusOf(exchange, context);
  const method = request.method ?? '';
  span.end(
    {
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
      'gatehouse.request_id': id,
      'gatehouse.operation': operation,
      'gatehouse.organization_id': key?.organizationId,
      'gatehouse.key_prefix': key?.prefix,
      'gatehouse.route': context.route,
      'gatehouse.refusal': refusal,
      'gatehouse.cost_pkr': finished && decimalFromMicroPkr(finished.costMicroPkr),
      'gatehouse.attempts': finished?.attempts.length,
    },
    // A refusal of the caller's is not the server's failure.
    status >= 500 ? (refusal ?? String(status)) : undefined,
    route === undefined ? method : `${method} ${route}`,
  );
}
