import { createHmac, randomBytes } from 'node:crypto';

// What a sign-in at the issuer has to remember between the two requests is one secret, in a cookie of the browser that began
// it. The state, the nonce and the code verifier are made from the secret, so the service keeps nothing, and any node can
// finish what another began. The name of the cookie has a part of the state: each tab has its own.

/** How long a person has to sign in at the issuer. */
const FLOW_SECONDS = 600;

/** A browser that begins more sign-ins than this forgets the oldest. */
const MAX_FLOWS = 5;

const MAX_RETURN_LENGTH = 500;
const NAME_LENGTH = 12;

// The prefix keeps other hosts of the same domain from setting it.
const PREFIX = '__Host-gatehouse_oidc_';
const ATTRIBUTES = 'Path=/; HttpOnly; Secure; SameSite=Lax';

/** A sign-in at the issuer in progress. */
export interface Flow {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** The path of the page to open afterwards. */
  readonly returnTo: string;
}

/** A new flow, and the cookies that remember it. `cookieHeader` is that of the request. */
export function beginFlow(
  returnTo: string | null,
  cookieHeader: string | undefined,
  nowMs: number,
): { readonly flow: Flow; readonly setCookies: readonly string[] } {
  const secret = randomBytes(32).toString('base64url');
  const path = safePath(returnTo);
  const flow = flowOf(secret, path);
  const value = `${secret}.${Math.floor(nowMs / 1000)}.${Buffer.from(path).toString('base64url')}`;
  const forgotten = flowCookies(cookieHeader)
    .sort((one, other) => startOf(other.value) - startOf(one.value))
    .slice(MAX_FLOWS - 1);
  return {
    flow,
    setCookies: [
      ...forgotten.map(({ name }) => clearedCookie(name)),
      `${cookieName(flow.state)}=${value}; Max-Age=${FLOW_SECONDS}; ${ATTRIBUTES}`,
    ],
  };
}

/** The flow that this browser began with the state; undefined where there is none, or none any more. */
export function findFlow(
  state: string | null,
  cookieHeader: string | undefined,
  nowMs: number,
): Flow | undefined {
  if (state === null || !/^[\w-]{43}$/.test(state)) return undefined;
  const found = flowCookies(cookieHeader).filter(({ name }) => name === cookieName(state));
  const [secret = '', , path = ''] = found[0]?.value.split('.') ?? [];
  const ageSeconds = nowMs / 1000 - startOf(found[0]?.value ?? '');
  // The clocks of two nodes differ by less than a minute.
  if (found.length !== 1 || !(ageSeconds > -60 && ageSeconds < FLOW_SECONDS)) return undefined;
  const flow = flowOf(secret, safePath(Buffer.from(path, 'base64url').toString('utf8')));
  return flow.state === state ? flow : undefined;
}

/** Makes the browser forget the flow. */
export function endFlow(state: string): string {
  return clearedCookie(cookieName(state));
}

/** A path of this service: a browser reads `//host`, and `/\host`, as another site. */
export function safePath(path: string | null): string {
  return path !== null &&
    path.length <= MAX_RETURN_LENGTH &&
    /^\/(?![/\\])[!-[\]-~]*$/.test(path) &&
    !/^\/(api|sign-in|register)\b/.test(path)
    ? path
    : '/';
}

function flowOf(secret: string, returnTo: string): Flow {
  const made = (what: string) => createHmac('sha256', secret).update(what).digest('base64url');
  return { state: made('state'), nonce: made('nonce'), codeVerifier: made('code verifier'), returnTo };
}

function cookieName(state: string): string {
  return PREFIX + state.slice(0, NAME_LENGTH);
}

function clearedCookie(name: string): string {
  return `${name}=; Max-Age=0; ${ATTRIBUTES}`;
}

function flowCookies(header: string | undefined): { readonly name: string; readonly value: string }[] {
  return (header ?? '').split(';').flatMap((pair) => {
    const [name = '', value = ''] = pair.trim().split('=');
    return name.startsWith(PREFIX) && /^[\w-]+$/.test(name) ? [{ name, value }] : [];
  });
}

function startOf(value: string): number {
  const seconds = Number(value.split('.')[1]);
  return Number.isSafeInteger(seconds) ? seconds : 0;
}
