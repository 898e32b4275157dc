import { pathOf } from '@gatehouse/http';
import type { Operation } from '../context/context.ts';
import { methodNotAllowed, unknownPath } from '../errors/gateway-error.ts';
import { sendWhole } from '../exchange/answers.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { isPreflight, preflightHeaders } from '../http/cross-origin.ts';
import { notServed, type Served } from '../http/what-is-served.ts';
import type { LogContext } from '../observed/log-request.ts';
import { maskKeys } from '../wire/text.ts';

/** Answers a request. Returns what the log line says of it. */
type Handler = (exchange: Exchange) => Promise<LogContext> | Promise<void>;

/** The endpoint at a path. HEAD is answered as GET is. */
export interface Endpoint {
  readonly operation: Operation;
  readonly GET?: Handler;
  readonly POST?: Handler;
}

export function servedBy(endpoints: ReadonlyMap<string, Endpoint>): Served[] {
  return [...endpoints].flatMap(([path, { GET, POST }]) => [
    ...(POST ? [{ method: 'POST', path }] : []),
    ...(GET ? [{ method: 'GET', path }] : []),
  ]);
}

/** The endpoint at a path; for one that ends in `{id}`, at every path that goes on there. */
function endpointAt(endpoints: ReadonlyMap<string, Endpoint>, path: string): Endpoint | undefined {
  const known = endpoints.get(path);
  if (known) return known;
  const [open, endpoint] = [...endpoints].find(([one]) => one.endsWith('{id}')) ?? [''];
  const start = open.slice(0, -'{id}'.length);
  return start !== '' && path.length > start.length && path.startsWith(start) ? endpoint : undefined;
}

const showPreflight: Handler = async (exchange) =>
  sendWhole(exchange, 204, preflightHeaders(exchange.request), Buffer.alloc(0), {});

/** Throws the 404 or the 405 where nothing answers. */
export function handlerOf(
  endpoints: ReadonlyMap<string, Endpoint>,
  exchange: Exchange,
): { readonly operation: Operation; readonly handler: Handler } {
  const { request } = exchange;
  const endpoint = endpointAt(endpoints, pathOf(request.url ?? ''));
  if (!endpoint) {
    throw unknownPath(
      notServed(request.method ?? '', maskKeys(pathOf(request.url ?? '')), servedBy(endpoints)),
    );
  }
  if (exchange.crossOrigin && isPreflight(request))
    return { operation: endpoint.operation, handler: showPreflight };
  const handlers = new Map<string, Handler>();
  if (endpoint.GET) handlers.set('GET', endpoint.GET).set('HEAD', endpoint.GET);
  if (endpoint.POST) handlers.set('POST', endpoint.POST);
  const handler = handlers.get(request.method ?? '');
  if (!handler) throw methodNotAllowed([...handlers.keys()]);
  return { operation: endpoint.operation, handler };
}
