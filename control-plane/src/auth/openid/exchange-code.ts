import { ApiError } from '@gatehouse/contract';
import type { Configuration, CustomFetchOptions } from 'openid-client';
import type { OidcSettings } from '../../settings.ts';
import type { Discovered } from './discovery.ts';
import { SignInFailure } from './failure.ts';
import type { Flow } from './flow.ts';
import { IdentityError, SIGNATURE_ALGORITHMS, verifyIdToken } from './id-token.ts';
import { type Identity, readIdentity, saysOfEmail } from './identity.ts';
import type { IssuerDependencies, OpenIdIssuer } from './issuer.ts';
import { readBounded } from './read-bounded.ts';

const TIMEOUT_SECONDS = 5;
const MAX_REASON_LENGTH = 200;

/** The client of the issuer: the library's code does the protocol, with addresses that discovery found. */
export interface OidcClient {
  readonly issuer: OpenIdIssuer;
  readonly settings: OidcSettings;
  /** The way to it. */
  readonly fetch: IssuerDependencies['fetch'];
}

/** An account at the issuer, as a token says that is good for one sign-in. */
export interface ProvenIdentity extends Identity {
  /** SHA-256 of the signed part of the token. */
  readonly tokenHash: Buffer;
}

/** The address at the issuer where the person signs in. */
export async function authorizationAddress(
  client: OidcClient,
  { state, nonce, codeVerifier }: Flow,
  redirectUri: string,
): Promise<URL> {
  const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import('openid-client');
  const document = await client.issuer.reach();
  if (document.authorizationUrl === undefined) {
    throw new SignInFailure('issuer_unavailable', 'the issuer names no authorization endpoint');
  }
  return buildAuthorizationUrl(await configurationOf(client, document), {
    redirect_uri: redirectUri,
    scope: 'openid email',
    state,
    nonce,
    code_challenge: await calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
  });
}

/**
 * Exchanges the code of the issuer's answer for the identity behind it. `answered` is the address that the browser was
 * sent to, with its query.
 * @throws SignInFailure
 */
export async function exchangeCode(client: OidcClient, flow: Flow, answered: URL): Promise<ProvenIdentity> {
  try {
    const { authorizationCodeGrant, fetchUserInfo, WWWAuthenticateChallengeError } = await import(
      'openid-client'
    );
    // An access token may be for other things than the user info.
    const nothingIfRefused = (error: unknown) => {
      if (!(error instanceof WWWAuthenticateChallengeError)) throw error;
      return undefined;
    };
    const document = await client.issuer.findDocument();
    const configuration = await configurationOf(client, document);
    const tokens = await authorizationCodeGrant(configuration, answered, {
      expectedState: flow.state,
      expectedNonce: flow.nonce,
      pkceCodeVerifier: flow.codeVerifier,
      idTokenExpected: true,
    });
    const { claims, hash } = await verifyIdToken(tokens.id_token ?? '', client.issuer, SIGNATURE_ALGORITHMS);
    const own = claims as Readonly<Record<string, unknown>>;
    const asksMore = !saysOfEmail(own) && document.metadata['userinfo_endpoint'] !== undefined;
    const more = asksMore
      ? await fetchUserInfo(configuration, tokens.access_token, String(own['sub'])).catch(nothingIfRefused)
      : undefined;
    return { ...readIdentity(own, more), tokenHash: hash };
  } catch (error) {
    throw await failureOf(error);
  }
}

async function configurationOf(
  { settings, fetch }: OidcClient,
  { metadata }: Discovered,
): Promise<Configuration> {
  const library = await import('openid-client');
  const { clientId, clientSecret } = settings;
  const methods = metadata['token_endpoint_auth_methods_supported'];
  const isPost =
    Array.isArray(methods) &&
    !methods.includes('client_secret_basic') &&
    methods.includes('client_secret_post');
  const authentication = !clientSecret
    ? library.None()
    : isPost
      ? library.ClientSecretPost(clientSecret.reveal())
      : library.ClientSecretBasic(clientSecret.reveal());
  const configuration = new library.Configuration(
    metadata as ConstructorParameters<typeof Configuration>[0],
    clientId,
    {},
    authentication,
  );
  configuration.timeout = TIMEOUT_SECONDS;
  configuration[library.customFetch] = (url, options) => boundedFetch(fetch, url, options);
  // The setting admits http for an issuer on this machine only.
  if (settings.issuer.startsWith('http:')) library.allowInsecureRequests(configuration);
  return configuration;
}

/** A request to the issuer. Whatever is no answer of an issuer that works is thrown as such. */
async function boundedFetch(
  fetch: IssuerDependencies['fetch'],
  url: string,
  { body: sent, signal, ...options }: CustomFetchOptions,
) {
  try {
    const response = await fetch(url, {
      ...options,
      redirect: 'error',
      ...(sent == null ? {} : { body: sent as NonNullable<RequestInit['body']> }),
      ...(signal ? { signal } : {}),
    });
    const { status, headers } = response;
    const body = await readBounded(response, url);
    if (status >= 500) throw new Error(`${url} answered ${status}`);
    return new Response(body.length === 0 ? null : body, { status, headers });
  } catch (error) {
    throw new SignInFailure('issuer_unavailable', reasonOf(error));
  }
}

async function failureOf(error: unknown): Promise<SignInFailure> {
  const { AuthorizationResponseError, ClientError, ResponseBodyError } = await import('openid-client');
  // The library wraps what its requests throw.
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof SignInFailure) return cause;
    if (cause instanceof IdentityError) return new SignInFailure('invalid_answer', cause.reason);
    if (cause instanceof ApiError) return new SignInFailure('issuer_unavailable');
  }
  if (error instanceof AuthorizationResponseError) {
    const reason = reasonOf(error, error.error);
    return new SignInFailure(error.error === 'access_denied' ? 'cancelled' : 'issuer_error', reason);
  }
  if (error instanceof ResponseBodyError) {
    // Any other is about this service: its client id, its secret, its address.
    const code = error.error === 'invalid_grant' ? 'invalid_answer' : 'issuer_error';
    return new SignInFailure(code, reasonOf(error, error.error));
  }
  return new SignInFailure(error instanceof ClientError ? 'invalid_answer' : 'issuer_error', reasonOf(error));
}

function reasonOf(error: unknown, code?: string): string {
  const { message, cause } = error as Error;
  const because = cause instanceof Error ? cause.message : undefined;
  return [code, message, because]
    .filter((part) => part !== undefined)
    .join(': ')
    .slice(0, MAX_REASON_LENGTH);
}
