import assert from 'node:assert/strict';
import type { ControlPlaneSettings, OidcSettings } from '../settings.ts';
import type { RawReply } from './api-client.ts';
import {
  type OpenIdProvider,
  type ProviderAccount,
  type ProviderOptions,
  startOpenIdProvider,
} from './openid-provider.ts';
import { startTestApi, type TestApi } from './test-api.ts';

/** The address at which the browsers of these tests reach the API; their requests go to its port all the same. */
export const PUBLIC_URL = 'https://gatehouse.example';
export const OIDC_CALLBACK = `${PUBLIC_URL}/api/auth/oidc/callback`;
export const OIDC_ORGANIZATION = 'Acme';

/** A browser: it keeps the cookies that the API sets. */
export class Browser {
  readonly #api: TestApi;
  readonly cookies = new Map<string, string>();

  constructor(api: TestApi) {
    this.#api = api;
  }

  /** Opens an address of the API, or a path; redirects are not followed. */
  async open(address: string | URL): Promise<RawReply> {
    const { pathname, search } = new URL(address, PUBLIC_URL);
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers: Record<string, string> = cookie === '' ? {} : { cookie };
    const reply = await this.#api.anonymous().raw({ method: 'GET', path: pathname + search, headers });
    for (const line of [reply.headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value) this.cookies.set(name, value);
      else this.cookies.delete(name);
    }
    return reply;
  }

  /** Begins a sign-in; the address of the issuer. */
  async begin(returnTo?: string): Promise<string> {
    const query = returnTo === undefined ? '' : `?return=${encodeURIComponent(returnTo)}`;
    const reply = await this.open(`/api/auth/oidc${query}`);
    assert.equal(reply.status, 302, `${reply.status} to ${reply.headers['location']}`);
    return locationOf(reply);
  }

  /** The account of its session, as GET /auth/me answers; undefined where it has none. */
  async account(): Promise<
    | { user: { user_id: string; email: string; role: string }; organization: { id: string; name: string } }
    | undefined
  > {
    const reply = await this.open('/api/auth/me');
    return reply.status === 200 ? JSON.parse(reply.text) : undefined;
  }
}

export function locationOf({ headers }: RawReply): string {
  return String(headers['location']);
}

/** Asserts that a sign-in failed so, and that the browser has no session. */
export async function assertFailed(browser: Browser, reply: RawReply, code: string): Promise<void> {
  assert.deepEqual([reply.status, locationOf(reply)], [303, `/sign-in?error=${code}`]);
  assert.equal(await browser.account(), undefined);
}

export interface OidcApi extends AsyncDisposable {
  readonly api: TestApi;
  readonly provider: OpenIdProvider;
  /** The API's monotonic clock, which ages its cache of the issuer's documents; moved by the test. */
  readonly clock: { ms: number };
  browser(): Browser;
  /** Signs the account in with a new browser, or the given one; the reply to the callback, and the browser. */
  signIn(
    account: ProviderAccount,
    given?: { from?: Browser; returnTo?: string },
  ): Promise<{ reply: RawReply; browser: Browser }>;
}

/** An API whose OpenID issuer is a certified provider on this machine. */
export async function startOidcApi(
  oidc: Partial<OidcSettings> = {},
  options: ProviderOptions = {},
  settings: Partial<ControlPlaneSettings> = {},
): Promise<OidcApi> {
  const stack = new AsyncDisposableStack();
  const provider = stack.use(await startOpenIdProvider({ redirectUri: OIDC_CALLBACK, ...options }));
  const { issuer, clientId, clientSecret } = provider;
  const clock = { ms: 0 };
  const api = stack.use(
    await startTestApi(
      {
        publicUrl: PUBLIC_URL,
        oidc: { ...oidcSettings(issuer), clientId, clientSecret, ...oidc },
        ...settings,
      },
      { monotonicMs: () => clock.ms },
    ),
  );
  return {
    api,
    provider,
    clock,
    browser: () => new Browser(api),
    async signIn(account, { from = new Browser(api), returnTo } = {}) {
      const answered = await provider.visit(await from.begin(returnTo), account);
      return { reply: await from.open(answered), browser: from };
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** The settings of an issuer, as tests have them unless they say otherwise. */
export function oidcSettings(issuer: string): OidcSettings {
  return {
    issuer,
    clientId: 'gatehouse',
    clientSecret: undefined,
    label: 'Continue with Acme',
    domains: undefined,
    organization: OIDC_ORGANIZATION,
  };
}
