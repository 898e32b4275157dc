import { createServer, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';

/** A certificate chain and its private key, both PEM. */
export interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

// Node waits two minutes for a handshake. A caller needs a few round trips.
const HANDSHAKE_TIMEOUT_MS = 9_000;

/** An HTTP server, or an HTTPS server (TLS 1.2 and 1.3) with a certificate. */
export function createWebServer(
  options: ServerOptions,
  certificate: Certificate | undefined,
): Server | TlsServer {
  if (certificate === undefined) return createServer(options);
  return createTlsServer({ ...options, ...certificate, handshakeTimeout: HANDSHAKE_TIMEOUT_MS });
}

/** Handshakes from here on use it. Open connections go on with the one that they have. */
export function replaceCertificate(server: Server | TlsServer, { cert, key }: Certificate): void {
  if ('setSecureContext' in server) server.setSecureContext({ cert, key });
}
