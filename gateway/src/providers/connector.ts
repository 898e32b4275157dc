import type { buildConnector as Connectors } from 'undici';
import buildConnector from 'undici/lib/core/connect.js';

// Errors with which no connection was made. Nothing of a request has gone out then, so no caller can have caused them.
const connectionErrors = new WeakSet<Error>();

// This process has no room for another connection, which says nothing about the provider.
const OWN_LIMITS: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL']);

/** True if the provider could not be reached: its name is unknown, it refuses connections, TLS fails, or time is up. */
export function isConnectionError(error: Error): boolean {
  return connectionErrors.has(error);
}

/** Makes connections as the client library does, and remembers the errors with which it could not. */
export function createConnector(timeoutMs: number): Connectors.connector {
  const connect = buildConnector({ timeout: timeoutMs, allowH2: false });
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
