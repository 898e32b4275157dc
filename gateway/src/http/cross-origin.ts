import type { IncomingMessage } from 'node:http';

// A browser lets a page of another origin read an answer only where the answer says so, and asks before it sends a key.

/** The origins whose pages may use the gateway, as browsers write them; `*` is every one. */
export type CorsOrigins = ReadonlySet<string> | '*';

type Headers = Readonly<Record<string, string>>;

/** Chromium remembers the answer for no longer; Firefox does for a day. */
const MAX_AGE_SECONDS = 7_200;
const METHODS = 'GET, HEAD, POST';
/** Names of headers, with commas between them. */
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~-]+(?: *, *[\w!#$%&'*+.^`|~-]+)*$/;
const MAX_NAMES_LENGTH = 4_096;

/** The headers of every answer that let the page which asked read it; undefined where it may not. */
export function crossOriginHeaders(
  { headers: { origin } }: IncomingMessage,
  served: CorsOrigins = new Set(),
): Headers | undefined {
  if (origin === undefined) return undefined;
  // The gateway reads no cookies, so a star exposes every header of an answer.
  const exposed = { 'access-control-expose-headers': '*' };
  if (served === '*') return { 'access-control-allow-origin': '*', ...exposed };
  return served.has(origin)
    ? { 'access-control-allow-origin': origin, vary: 'origin', ...exposed }
    : undefined;
}

/** True if the browser asks whether the page may send a request. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

/**
 * The headers of the answer to a preflight. Every header that the browser names is allowed: SDKs send a dozen of their own, a star does not
 * stand for `authorization`, and a request is checked when it comes.
 */
export function preflightHeaders({ headers }: IncomingMessage): Headers {
  const names = headers['access-control-request-headers'] ?? '';
  return {
    'access-control-allow-methods': METHODS,
    'access-control-max-age': String(MAX_AGE_SECONDS),
    ...(names.length <= MAX_NAMES_LENGTH &&
      HEADER_NAMES.test(names) && { 'access-control-allow-headers': names }),
    vary: 'origin, access-control-request-headers',
  };
}
