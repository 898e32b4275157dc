import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Secret } from '@gatehouse/contract';
import type { JWK } from 'jose';
import type { Adapter, AdapterPayload, Configuration, Provider } from 'oidc-provider';

// A certified OpenID provider on this machine, instead of Google's. Its own code issues the tokens at the end of a
// complete sign-in: authorization request, login, code, token request.

/** The claims of an account. */
export interface ProviderAccount {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly hd?: string;
}

export interface Issued {
  readonly idToken: string;
  /** A signed one, made out to the same client: as close to an ID token as an access token can be. */
  readonly accessToken: string;
}

export interface OpenIdProvider extends AsyncDisposable {
  readonly issuer: string;
  readonly clientId: string;
  /** A foreign client of the same provider. */
  readonly otherClientId: string;
  /** The client secret, where the provider was started with one. */
  readonly clientSecret: Secret | undefined;
  /** Signs the account in at a client, by default ours. */
  issue(account: ProviderAccount, given?: { nonce?: string; clientId?: string }): Promise<Issued>;
  /**
   * Does the part of a browser from the address where a person signs in, with this account; the address that the browser
   * is sent back to.
   */
  visit(address: string, account: ProviderAccount): Promise<URL>;
  /** From here on, a browser that names nobody signs in as this account. */
  seats(account: ProviderAccount): void;
  /** From here on, our client lets browsers be sent back here. */
  register(redirectUri: string): void;
  /** The account is gone: nobody signs in with it, and its codes are worth nothing. */
  forget(account: ProviderAccount): void;
  /** The current private signing key, with its `kid`. */
  readonly signingKey: JWK;
  /** Replaces the signing key; the old one leaves the key set. */
  rotateKey(): void;
  /** How often its discovery document and its keys were requested. */
  readonly requests: { document: number; keys: number };
  /** Accepts requests without answering them until the returned function is called. */
  hold(): () => void;
  /** Resolves once a request is held back. */
  heldBack(): Promise<void>;
  /** Stops listening until `start`. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

const CLIENT_ID = 'gatehouse.apps.example';
const OTHER_CLIENT_ID = 'other.apps.example';
// Never requested: a browser would be redirected there, and the test reads the redirect.
const REDIRECT_URI = 'https://gatehouse.example/callback';
const RESOURCE = 'https://resource.example';

export interface ProviderOptions {
  /** The address that our client lets browsers be sent back to. */
  readonly redirectUri?: string;
  /** Makes our client a confidential one, which authenticates so. */
  readonly authentication?: 'client_secret_basic' | 'client_secret_post';
  /** The address is told by the user info only, as the standard has it, and not by the ID token. */
  readonly isConformant?: boolean;
}

export async function startOpenIdProvider(options: ProviderOptions = {}): Promise<OpenIdProvider> {
  // Here, because most files that import this one start no provider, and it loads 180 modules.
  const { Provider } = await import('oidc-provider');
  const accounts = new Map<string, ProviderAccount>();
  const requests = { document: 0, keys: 0 };
  let signingKey = newSigningKey();
  let provider: Provider;
  let held: PromiseWithResolvers<void> | undefined;
  let arrived = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    if (held) {
      arrived.resolve();
      await held.promise;
    }
    const { pathname } = new URL(request.url ?? '/', issuer);
    if (pathname === '/.well-known/openid-configuration') requests.document += 1;
    if (pathname === '/jwks') requests.keys += 1;
    if (pathname.startsWith('/interaction/')) void signInAsHinted(provider, seated?.sub, request, response);
    else void provider.callback()(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const issuer = `http://127.0.0.1:${port}`;
  let { redirectUri } = options;
  let seated: ProviderAccount | undefined;
  const clientSecret = options.authentication && new Secret(randomUUID());
  const create = () =>
    new Provider(issuer, configuration({ ...options, signingKey, accounts, clientSecret, redirectUri }));
  provider = create();

  const stop = async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return {
    issuer,
    clientId: CLIENT_ID,
    otherClientId: OTHER_CLIENT_ID,
    clientSecret,
    requests,
    visit(address, account) {
      accounts.set(account.sub, account);
      const at = new URL(address);
      at.searchParams.set('login_hint', account.sub);
      return followed(at, redirectUri ?? REDIRECT_URI);
    },
    seats(account) {
      accounts.set(account.sub, account);
      seated = account;
    },
    register(given) {
      redirectUri = given;
      provider = create();
    },
    forget: ({ sub }) => void accounts.delete(sub),
    get signingKey() {
      return signingKey;
    },
    async issue(account, { nonce, clientId = CLIENT_ID } = {}) {
      accounts.set(account.sub, account);
      return signIn(issuer, { sub: account.sub, clientId, nonce });
    },
    rotateKey() {
      signingKey = newSigningKey();
      provider = create();
    },
    hold() {
      held = Promise.withResolvers();
      arrived = Promise.withResolvers();
      return () => {
        held?.resolve();
        held = undefined;
      };
    },
    heldBack: () => arrived.promise,
    stop,
    async start() {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    async [Symbol.asyncDispose]() {
      if (server.listening) await stop();
    },
  };
}

export function newSigningKey(): JWK {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...(privateKey.export({ format: 'jwk' }) as JWK), kid: randomUUID(), alg: 'RS256', use: 'sig' };
}

interface Made extends Omit<ProviderOptions, 'redirectUri'> {
  readonly redirectUri: string | undefined;
  readonly signingKey: JWK;
  readonly accounts: ReadonlyMap<string, ProviderAccount>;
  readonly clientSecret: Secret | undefined;
}

function configuration({
  signingKey,
  accounts,
  clientSecret,
  redirectUri = REDIRECT_URI,
  authentication,
  isConformant = false,
}: Made): Configuration {
  const client = {
    redirect_uris: [redirectUri],
    response_types: ['code' as const],
    grant_types: ['authorization_code'],
    token_endpoint_auth_method: 'none' as const,
  };
  const anHour = () => 3_600;
  return {
    adapter: inMemory(),
    jwks: { keys: [signingKey as JWK & { kty: 'RSA' }] },
    clients: [
      {
        ...client,
        client_id: CLIENT_ID,
        ...(clientSecret && { client_secret: clientSecret.reveal() }),
        ...(authentication && { token_endpoint_auth_method: authentication }),
      },
      { ...client, client_id: OTHER_CLIENT_ID },
    ],
    cookies: { keys: [randomUUID()] },
    scopes: ['openid', 'email'],
    claims: { openid: ['sub'], email: ['email', 'email_verified', 'hd'] },
    // As with Google, the ID token itself has the claims.
    conformIdTokenClaims: isConformant,
    ...(authentication && { clientAuthMethods: [authentication, 'none'] }),
    findAccount: (_context, sub) => {
      const account = accounts.get(sub);
      return account && { accountId: sub, claims: () => ({ ...account }) };
    },
    // Grants everything without a consent page.
    async loadExistingGrant({ oidc }) {
      const { client: asking, session } = oidc;
      assert.ok(asking && session?.accountId);
      const grant = new oidc.provider.Grant({ clientId: asking.clientId, accountId: session.accountId });
      grant.addOIDCScope('openid email');
      grant.addResourceScope(RESOURCE, 'email');
      await grant.save();
      return grant;
    },
    features: {
      devInteractions: { enabled: false },
      // The user info takes no access token that is made out to a resource.
      resourceIndicators: {
        enabled: !isConformant,
        defaultResource: () => RESOURCE,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: 'email',
          audience: CLIENT_ID,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    ttl: {
      AccessToken: anHour,
      AuthorizationCode: anHour,
      Grant: anHour,
      IdToken: anHour,
      Interaction: anHour,
      Session: anHour,
    },
  };
}

/** The login page: signs in the account of `login_hint`, else the one that is seated there. */
async function signInAsHinted(
  provider: Provider,
  seated: string | undefined,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const { params } = await provider.interactionDetails(request, response);
  await provider.interactionFinished(request, response, {
    login: { accountId: String(params['login_hint'] ?? seated) },
  });
}

interface SignIn {
  readonly sub: string;
  readonly clientId: string;
  readonly nonce: string | undefined;
}

/** Does the part of a browser and the client's server to get the tokens. */
async function signIn(issuer: string, { sub, clientId, nonce }: SignIn): Promise<Issued> {
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    client_id: clientId,
    response_type: 'code',
    scope: 'openid email',
    redirect_uri: REDIRECT_URI,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    login_hint: sub,
    resource: RESOURCE,
    ...(nonce === undefined ? {} : { nonce }),
  });
  const at = await followed(new URL(`${issuer}/auth?${query}`), REDIRECT_URI);
  const code = at.searchParams.get('code');
  assert.ok(code, at.href);
  const reply = await fetch(`${issuer}/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: clientId,
      code,
      code_verifier: verifier,
      redirect_uri: REDIRECT_URI,
    }),
  });
  const tokens = (await reply.json()) as { id_token?: string; access_token?: string };
  assert.ok(tokens.id_token && tokens.access_token, JSON.stringify(tokens));
  return { idToken: tokens.id_token, accessToken: tokens.access_token };
}

/** Follows the redirects of a new browser until they leave the provider. */
async function followed(from: URL, redirectUri: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let at = from;
  while (!at.href.startsWith(redirectUri)) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const page = await fetch(at, { redirect: 'manual', headers: { cookie } });
    for (const line of page.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = page.headers.get('location');
    assert.ok(location, `${at.pathname} answered ${page.status} ${await page.text()}`);
    at = new URL(location, at);
  }
  return at;
}

/** The provider's storage, in memory. */
function inMemory(): new (kind: string) => Adapter {
  const stored = new Map<string, AdapterPayload>();
  return class {
    readonly #kind: string;
    constructor(kind: string) {
      this.#kind = kind;
    }
    async upsert(id: string, payload: AdapterPayload) {
      stored.set(`${this.#kind} ${id}`, payload);
    }
    async find(id: string) {
      return stored.get(`${this.#kind} ${id}`);
    }
    async findByUid(uid: string) {
      return [...stored].find(
        ([key, payload]) => key.startsWith(`${this.#kind} `) && payload.uid === uid,
      )?.[1];
    }
    async findByUserCode() {
      return undefined;
    }
    async consume(id: string) {
      const payload = stored.get(`${this.#kind} ${id}`);
      if (payload) payload['consumed'] = true;
    }
    async destroy(id: string) {
      stored.delete(`${this.#kind} ${id}`);
    }
    async revokeByGrantId() {}
  };
}
