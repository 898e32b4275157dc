import {
  ACCESS_COOKIE,
  ACCESS_TOKEN_SECONDS,
  REFRESH_COOKIE,
  REFRESH_TOKEN_SECONDS,
  Secret,
} from '@gatehouse/contract';

/** The session cookies of a request. */
export interface SessionCookies {
  readonly accessToken: Secret | undefined;
  readonly refreshToken: Secret | undefined;
}

/**
 * Reads the `Cookie` header; Node joins several of them with `; `. Undefined when one of the two names is repeated:
 * another site under the same domain may have set one, and there is no way to know which.
 */
export function readSessionCookies(header: string | undefined): SessionCookies | undefined {
  const found: Record<typeof ACCESS_COOKIE | typeof REFRESH_COOKIE, string[]> = {
    [ACCESS_COOKIE]: [],
    [REFRESH_COOKIE]: [],
  };
  for (const pair of (header ?? '').split(';')) {
    const equals = pair.indexOf('=');
    const name = pair.slice(0, Math.max(equals, 0)).trim();
    if (name === ACCESS_COOKIE || name === REFRESH_COOKIE) found[name].push(pair.slice(equals + 1).trim());
  }
  const [access, refresh] = [found[ACCESS_COOKIE], found[REFRESH_COOKIE]];
  if (access.length > 1 || refresh.length > 1) return undefined;
  return { accessToken: token(access), refreshToken: token(refresh) };
}

/** An empty value counts as none. */
function token([value]: readonly string[]): Secret | undefined {
  return value ? new Secret(value) : undefined;
}

const ATTRIBUTES = 'HttpOnly; Secure; SameSite=Lax';

export function accessCookie(token: Secret): string {
  return `${ACCESS_COOKIE}=${token.reveal()}; Path=/; Max-Age=${ACCESS_TOKEN_SECONDS}; ${ATTRIBUTES}`;
}

export function refreshCookie(token: Secret): string {
  return `${REFRESH_COOKIE}=${token.reveal()}; Path=/api/auth; Max-Age=${REFRESH_TOKEN_SECONDS}; ${ATTRIBUTES}`;
}

/** Makes a browser delete both. */
export function clearedCookies(): string[] {
  return [
    `${ACCESS_COOKIE}=; Path=/; Max-Age=0; ${ATTRIBUTES}`,
    `${REFRESH_COOKIE}=; Path=/api/auth; Max-Age=0; ${ATTRIBUTES}`,
  ];
}
