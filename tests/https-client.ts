import type { IncomingMessage } from 'node:http';
import { type Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';

/** The address of a TLS server, and its name. */
export interface TlsAddress {
  readonly host: string;
  readonly port: number;
  /** The name that the certificate and the Host header have. */
  readonly name: string;
  readonly ca: Buffer;
}

export interface HttpsRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** The body as it is sent, instead. */
  readonly text?: string | Buffer;
  readonly agent?: Agent;
  /** The address of this machine that the connection comes from. */
  readonly localAddress?: string;
}

/** Sends a request and returns the answer once its headers are there. The certificate is checked. */
export function openHttps(at: TlsAddress, asked: HttpsRequest): Promise<IncomingMessage> {
  const {
    method = asked.body === undefined && asked.text === undefined ? 'GET' : 'POST',
    path,
    headers,
    body,
    text: whole = body === undefined ? undefined : JSON.stringify(body),
    agent,
    localAddress,
  } = asked;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = request(
    {
      ...{ host: at.host, port: at.port, servername: at.name, ca: at.ca, method, path },
      ...(agent && { agent }),
      ...(localAddress && { localAddress }),
      headers: {
        host: at.name,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
    },
    resolve,
  );
  sent.once('error', reject);
  sent.end(whole);
  return promise;
}

export interface HttpsAnswer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  /** The serial number of the server's certificate. */
  readonly serial: string;
}

export async function askHttps(at: TlsAddress, asked: HttpsRequest): Promise<HttpsAnswer> {
  const answer = await openHttps(at, asked);
  const serial = (answer.socket as TLSSocket).getPeerCertificate().serialNumber;
  return { status: answer.statusCode, headers: answer.headers, text: await text(answer), serial };
}

/** The `cookie` header for what an answer has set. */
export function cookiesOf({ headers }: HttpsAnswer): string {
  return (headers['set-cookie'] ?? []).map((line) => line.split(';', 1)[0]).join('; ');
}
