import type { TelemetryClient } from '@gatehouse/store';

/**
 * A client that sends each query (`query` or `exec`) to the store that `choose` returns for it. `choose` gets the number
 * of the query, from 1, and its organisation.
 */
export function watchedTelemetry(
  client: TelemetryClient,
  choose: (query: number, organizationId: unknown) => TelemetryClient | Promise<TelemetryClient>,
): TelemetryClient {
  let queries = 0;
  return new Proxy(client, {
    get(_, name) {
      if (name !== 'query' && name !== 'exec') return bound(client, name);
      return async (request: { readonly query_params?: Readonly<Record<string, unknown>> }) => {
        queries += 1;
        const { organization_id } = request.query_params ?? {};
        return bound(await choose(queries, organization_id), name)(request);
      };
    },
  });
}

// The client's methods need the client as `this`.
function bound(client: TelemetryClient, name: string | symbol): (...given: unknown[]) => unknown {
  const value = Reflect.get(client, name);
  return typeof value === 'function' ? value.bind(client) : value;
}
