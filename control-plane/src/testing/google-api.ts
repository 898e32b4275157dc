import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { auth } from '@gatehouse/contract';
import type { ControlPlaneSettings } from '../settings.ts';
import type { ApiClient, RawReply } from './api-client.ts';
import { type OpenIdProvider, type ProviderAccount, startOpenIdProvider } from './openid-provider.ts';
import { startTestApi, type TestApi } from './test-api.ts';

/** An API that signs in with a real OpenID provider instead of Google. */
export interface GoogleApi extends AsyncDisposable {
  readonly api: TestApi;
  readonly provider: OpenIdProvider;
  /** The API's monotonic clock, which ages its cache of the provider's documents; moved by the test. */
  readonly clock: { ms: number };
  /** Sends a token from a new browser, or with the given client. */
  send(
    credential: string,
    given?: { organization?: string; nonce?: string; from?: ApiClient },
  ): Promise<RawReply>;
}

export async function startGoogleApi(settings: Partial<ControlPlaneSettings> = {}): Promise<GoogleApi> {
  const stack = new AsyncDisposableStack();
  const provider = stack.use(await startOpenIdProvider());
  const clock = { ms: 0 };
  const { issuer, clientId } = provider;
  const api = stack.use(
    await startTestApi({ google: { issuer, clientId }, ...settings }, { monotonicMs: () => clock.ms }),
  );
  return {
    api,
    provider,
    clock,
    send: (credential, { organization, nonce, from = api.anonymous() } = {}) =>
      from.send(auth.google, {
        body: {
          credential,
          ...(organization === undefined ? {} : { organization_name: organization }),
          ...(nonce === undefined ? {} : { nonce }),
        },
      }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** A new account at the provider. */
export function newcomer(given: Partial<ProviderAccount> = {}): ProviderAccount & { readonly email: string } {
  return { sub: randomUUID(), email: `${randomUUID()}@example.com`, email_verified: true, ...given };
}

/** The reply's error. Asserts its status. */
export function errorOf({ status, text }: RawReply, expected: number): string {
  assert.equal(status, expected, text);
  return JSON.parse(text).error;
}
