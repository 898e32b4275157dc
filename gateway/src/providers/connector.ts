import type { buildConnector as Connectors } from 'undici';

// Errors with which no connection was made. Nothing of a request has gone out then, so no caller can have caused them.
const connectionErrors = new WeakSet<Error>();

// This process has no room for another connection, which says nothing about the provider.
const OWN_LIMITS: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL']);

/** True if the provider could not be reached: its name is unknown, it refuses connections, TLS or a proxy fails, or time is up. */
export function isConnectionError(error: Error): boolean {
  return connectionErrors.has(error) || proxyStatus(error) !== undefined;
}

/** The status with which a proxy refused to lead to the provider; undefined for other errors. */
export function proxyStatus({ message }: Error): string | undefined {
  // The client library says it in words only: of a tunnel, and of a request that is forwarded.
  const [, tunnel, forwarding] =
    /^(?:Proxy response \((\d+)\)|Proxy Authentication Required \((\d+)\)$)/.exec(message) ?? [];
  return tunnel ?? forwarding;
}

/** The connector, whose errors are remembered. */
export function remembering(connect: Connectors.connector): Connectors.connector {
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error === null) {
        callback(error, socket);
        return;
      }
      if (!('code' in error && OWN_LIMITS.has(error.code))) connectionErrors.add(error);
      callback(error, null);
    });
}
