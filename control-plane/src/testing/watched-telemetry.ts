import type { TelemetryClient } from '@gatehouse/store';

/**
 * A client that tells of each question before it is asked, by its number from 1 and whose it is, and puts it to the
 * store that it is given. A question is what is read by `query` or `exec`.
 */
export function watchedTelemetry(
  client: TelemetryClient,
  choose: (question: number, organizationId: unknown) => TelemetryClient | Promise<TelemetryClient>,
): TelemetryClient {
  let questions = 0;
  return new Proxy(client, {
    get(_, name) {
      if (name !== 'query' && name !== 'exec') return bound(client, name);
      return async (asked: { readonly query_params?: Readonly<Record<string, unknown>> }) => {
        questions += 1;
        const { organization_id } = asked.query_params ?? {};
        return bound(await choose(questions, organization_id), name)(asked);
      };
    },
  });
}

// The client's methods want to be called on the client itself.
function bound(client: TelemetryClient, name: string | symbol): (...given: unknown[]) => unknown {
  const value = Reflect.get(client, name);
  return typeof value === 'function' ? value.bind(client) : value;
}
