import type { TelemetryClient } from '@gatehouse/store';

/**
 * A client that tells of each question before it is asked, numbered from 1, and puts it to the store that it is given.
 * A question is what is read by `query` or `exec`.
 */
export function watchedTelemetry(
  client: TelemetryClient,
  choose: (question: number) => TelemetryClient | Promise<TelemetryClient>,
): TelemetryClient {
  let questions = 0;
  return new Proxy(client, {
    get(_, name) {
      if (name !== 'query' && name !== 'exec') return bound(client, name);
      return async (...given: unknown[]) => {
        questions += 1;
        return bound(await choose(questions), name)(...given);
      };
    },
  });
}

// The client's methods want to be called on the client itself.
function bound(client: TelemetryClient, name: string | symbol): (...given: unknown[]) => unknown {
  const value = Reflect.get(client, name);
  return typeof value === 'function' ? value.bind(client) : value;
}
