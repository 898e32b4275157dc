import { createServer, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';

/** A certificate chain and its private key, both PEM. */
export interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

// Node waits two minutes for a handshake. A caller needs a few round trips.
const HANDSHAKE_TIMEOUT_MS = 9_000;

// Of TLS 1.2 only what has forward secrecy and authenticated encryption; TLS 1.3 has nothing else. A connection that was recorded
// cannot be read later with the key of the certificate. Guarded by tls.test.ts.
const CIPHERS = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

/** An HTTP server, or an HTTPS server (TLS 1.2 and 1.3) with a certificate. */
export function createWebServer(
  options: ServerOptions,
  certificate: Certificate | undefined,
): Server | TlsServer {
  if (certificate === undefined) return createServer(options);
  return createTlsServer({
    ...options,
    ...certificate,
    ciphers: CIPHERS,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
  });
}

/** Handshakes from here on use it. Open connections go on with the one that they have. */
export function replaceCertificate(server: Server | TlsServer, { cert, key }: Certificate): void {
  if ('setSecureContext' in server) server.setSecureContext({ cert, key, ciphers: CIPHERS });
}
