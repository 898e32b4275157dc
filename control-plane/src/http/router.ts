import { type ApiError, methodNotAllowed } from '@gatehouse/contract';
import { pathOf } from '@gatehouse/http';
import findMyWay, { type HTTPMethod } from 'find-my-way';
import type { Exchange } from './exchange.ts';

export interface Route {
  readonly method: HTTPMethod;
  /** With parameters as `:name`. */
  readonly path: string;
  /** The endpoint's name in the contract. */
  readonly operation?: string;
  readonly handle: (exchange: Exchange, params: Readonly<Record<string, string>>) => Promise<void>;
}

export interface Router {
  /** Finds the route of the request and runs it. Throws 405 where the path exists with another method, else `unknownPath`. */
  handle(exchange: Exchange): Promise<void>;
}

// A parameter longer than any id is answered as an unknown id.
const MAX_PARAMETER_LENGTH = 16_384;

export function createRouter(routes: readonly Route[], unknownPath: (path: string) => ApiError): Router {
  const byMethod = findMyWay({ maxParamLength: MAX_PARAMETER_LENGTH });
  for (const route of routes) byMethod.on(route.method, route.path, () => undefined, route);
  const patterns = routes.map(({ method, path }) => ({
    method,
    pattern: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`),
  }));

  return {
    async handle(exchange) {
      const { request, target } = exchange;
      const found = byMethod.find(request.method as HTTPMethod, target);
      if (!found) {
        const path = decodeURI(pathOf(target));
        const allowed = patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
        throw allowed.length > 0 ? methodNotAllowed([...new Set(allowed)].sort()) : unknownPath(path);
      }
      const route = found.store as Route;
      exchange.operation = route.operation;
      exchange.routePath = route.path;
      await route.handle(exchange, found.params as Record<string, string>);
    },
  };
}
