// Signing in with Google without a script of Google's: the browser goes to the authorization endpoint and comes back with the ID
// token in the fragment of the URL, which no server sees. `state` proves that this tab asked, `nonce` ties the token to it.

/** The state that this tab remembers while the person is at Google. */
export interface PendingSignIn {
  readonly state: string;
  readonly nonce: string;
  readonly returnTo: string;
}

/** The path that Google returns to; the operator registers it with the client id as a redirect URI. */
export const REDIRECT_PATH = '/sign-in';

export function authorizationUrl(
  endpoint: string,
  { clientId, origin, state, nonce }: { clientId: string; origin: string; state: string; nonce: string },
): string {
  const url = new URL(endpoint);
  url.searchParams.set('client_id', clientId);
  url.searchParams.set('redirect_uri', origin + REDIRECT_PATH);
  url.searchParams.set('response_type', 'id_token');
  url.searchParams.set('scope', 'openid email');
  url.searchParams.set('state', state);
  url.searchParams.set('nonce', nonce);
  url.searchParams.set('prompt', 'select_account');
  return url.href;
}

export type GoogleReturn =
  | { readonly kind: 'token'; readonly credential: string; readonly nonce: string; readonly returnTo: string }
  | { readonly kind: 'cancelled' }
  /** The answer does not belong to a sign-in that this tab began. */
  | { readonly kind: 'unexpected' };

/** Reads the fragment of the URL. Undefined where it is no answer of Google's. */
export function readReturn(fragment: string, pending: PendingSignIn | undefined): GoogleReturn | undefined {
  const parameters = new URLSearchParams(fragment.replace(/^#/, ''));
  const credential = parameters.get('id_token');
  if (credential === null && !parameters.has('error')) return undefined;
  if (pending === undefined || parameters.get('state') !== pending.state) return { kind: 'unexpected' };
  if (credential === null) return { kind: 'cancelled' };
  return { kind: 'token', credential, nonce: pending.nonce, returnTo: pending.returnTo };
}
