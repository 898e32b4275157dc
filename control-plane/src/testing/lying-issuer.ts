import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type JWK, SignJWT } from 'jose';
import { newSigningKey } from './openid-provider.ts';

/** An issuer that answers as a test tells it. */
export interface LyingIssuer extends AsyncDisposable {
  readonly issuer: string;
  /** How often each path was requested. */
  readonly requests: Map<string, number>;
  /** The parameters of the latest token request. */
  readonly asked: URLSearchParams;
  /** The body of each answer by path, or a function that answers. */
  readonly answers: Map<string, unknown>;
  /** An ID token of these claims besides the usual ones, signed by its key unless another is given. */
  sign(
    claims: Record<string, unknown>,
    given?: { key?: JWK; header?: Record<string, unknown> },
  ): Promise<string>;
  /** The token endpoint answers with this ID token. */
  answerToken(idToken: string): void;
}

export type Answering = (request: IncomingMessage, response: ServerResponse) => void;

/** Starts it honest: what it answers is right until a test says otherwise. */
export async function startLyingIssuer(clientId: string): Promise<LyingIssuer> {
  const signingKey = newSigningKey();
  const requests = new Map<string, number>();
  const answers = new Map<string, unknown>();
  let asked = new URLSearchParams();
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', issuer);
    requests.set(pathname, (requests.get(pathname) ?? 0) + 1);
    let body = '';
    for await (const chunk of request) body += chunk;
    if (pathname === '/token') asked = new URLSearchParams(body);
    const answer = answers.get(pathname);
    if (typeof answer === 'function') return answer(request, response);
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  const { kty, n, e, kid, alg, use } = signingKey;
  answers.set('/jwks', { keys: [{ kty, n, e, kid, alg, use }] });
  answers.set('/.well-known/openid-configuration', {
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/jwks`,
    id_token_signing_alg_values_supported: ['RS256'],
    authorization_response_iss_parameter_supported: true,
  });
  return {
    issuer,
    requests,
    answers,
    get asked() {
      return asked;
    },
    sign: async (claims, { key = signingKey, header = {} } = {}) =>
      new SignJWT({ iss: issuer, aud: clientId, exp: Math.floor(Date.now() / 1000) + 3_600, ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: String(signingKey.kid), ...header })
        .setIssuedAt()
        .sign(key),
    answerToken: (id_token) =>
      void answers.set('/token', { access_token: 'a', token_type: 'Bearer', expires_in: 60, id_token }),
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
