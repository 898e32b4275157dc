import { ACCESS_COOKIE, REFRESH_COOKIE } from '@gatehouse/contract';
import { hostName, isLoopbackHost } from '@gatehouse/http';

// The session cookies are Secure. Over plain HTTP a browser drops them, and many clients do not send them even to
// localhost: sign-in succeeds and every later request is 401. The specification fixes the bodies, so a header says why.

export const HINT_HEADER = 'x-gatehouse-hint';

const WHERE = 'See "HTTPS and the session cookies" in docs/operations.md.';

const SET = `The session cookies are Secure and this host was reached over plain HTTP, so browsers and most clients will not send them back and the next request will be 401. Use HTTPS. ${WHERE}`;
const MISSING = `No session cookie came with this request, which came over plain HTTP. The session cookies are Secure: most clients send them over HTTPS only, some on localhost too. Sign in, and use HTTPS. ${WHERE}`;

/** For an answer that sets the cookies over plain HTTP; undefined on this machine, where browsers keep them. */
export function hintForSetCookies(host: string | undefined): string | undefined {
  const name = hostName(host ?? '');
  return name !== undefined && isLoopbackHost(name) ? undefined : SET;
}

/** For a 401 to a request that came over plain HTTP. */
export function hintForMissingCookies(cookies = ''): string | undefined {
  return cookies.includes(ACCESS_COOKIE) || cookies.includes(REFRESH_COOKIE) ? undefined : MISSING;
}
