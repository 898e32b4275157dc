import { ACCESS_COOKIE, REFRESH_COOKIE } from '@gatehouse/contract';
import { hostName, isLoopbackHost } from '@gatehouse/http';

// The session cookies are Secure. Over plain HTTP a browser drops them, and many clients do not send them even to
// localhost: sign-in succeeds and every later request is 401. The specification fixes the bodies, so a header says why.

export const HINT_HEADER = 'x-gatehouse-hint';

const WHERE = 'See "HTTPS and the session cookies" in docs/operations.md.';

const SET = `The session cookies are Secure and this host was reached over plain HTTP, so browsers and most clients will not send them back and the next request will be 401. Use HTTPS. ${WHERE}`;
const SET_ON_LOOPBACK = `The session cookies are Secure and this request came over plain HTTP. Most browsers and curl 7.79 or newer send them back to this machine all the same; other clients, such as Python requests, may not, and their next request will be 401. Use HTTPS, or send svc_access_token in a Cookie header. ${WHERE}`;
const MISSING = `No session cookie came with this request, which came over plain HTTP. The session cookies are Secure: most clients send them over HTTPS only, some on localhost too. Sign in, and use HTTPS. ${WHERE}`;

export interface CookieHint {
  readonly text: string;
  /** True if hardly any client can send the cookies back. On this machine most can. */
  readonly isForOperator: boolean;
}

/** For an answer that sets the cookies over plain HTTP; undefined where the request shows that its client sends them. */
export function hintForSetCookies(host: string | undefined, cookies?: string): CookieHint | undefined {
  if (hasSessionCookie(cookies)) return undefined;
  const name = hostName(host ?? '');
  const isLoopback = name !== undefined && isLoopbackHost(name);
  return { text: isLoopback ? SET_ON_LOOPBACK : SET, isForOperator: !isLoopback };
}

/** For a 401 to a request that came over plain HTTP. */
export function hintForMissingCookies(cookies: string | undefined): string | undefined {
  return hasSessionCookie(cookies) ? undefined : MISSING;
}

function hasSessionCookie(cookies = ''): boolean {
  return cookies.includes(ACCESS_COOKIE) || cookies.includes(REFRESH_COOKIE);
}
