import { createHash, createPrivateKey, webcrypto, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { AzureCredential } from '@gatehouse/contract';
import { createFetch, type ProxyOf } from '@gatehouse/http/outgoing';
import type { ClientAuth } from 'openid-client';
import type { Issued } from './renewal.ts';

const DEFAULT_AUTHORITY = 'https://login.microsoftonline.com';
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const TIMEOUT_SECONDS = 8;
const DEFAULT_LIFE_SECONDS = 600;

/** The value of an environment variable, or of the file that stands for it. */
export type Variable = (name: string) => string | undefined;

/**
 * Asks Entra for access tokens, with the variables that its own libraries read: a client secret, a certificate, or the
 * token of a workload identity.
 */
export async function openAzureTokens(
  { scope }: Pick<AzureCredential, 'scope'>,
  variable: Variable,
  proxyOf: ProxyOf,
): Promise<() => Promise<Issued<string>>> {
  const library = await import('openid-client');
  const tenant = needed(variable, 'AZURE_TENANT_ID');
  const clientId = needed(variable, 'AZURE_CLIENT_ID');
  const authority = (variable('AZURE_AUTHORITY_HOST') ?? DEFAULT_AUTHORITY).replace(/\/+$/, '');
  const issuer = `${authority}/${tenant}/oauth2/v2.0`;
  const endpoint = `${issuer}/token`;
  const fetchThrough = createFetch(proxyOf);
  const authentication = await authenticationOf(variable, endpoint, library);
  const configuration = new library.Configuration(
    { issuer, token_endpoint: endpoint },
    clientId,
    {},
    authentication,
  );
  configuration.timeout = TIMEOUT_SECONDS;
  configuration[library.customFetch] = (url, options) => fetchThrough(url, options as RequestInit);
  // An authority of this machine, in a test or beside a sidecar.
  if (/^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::|$)/.test(authority))
    library.allowInsecureRequests(configuration);
  return async () => {
    const { access_token, expires_in } = await library.clientCredentialsGrant(configuration, { scope });
    return { value: access_token, livesMs: (expires_in ?? DEFAULT_LIFE_SECONDS) * 1_000 };
  };
}

async function authenticationOf(
  variable: Variable,
  audience: string,
  library: typeof import('openid-client'),
): Promise<ClientAuth> {
  const secret = variable('AZURE_CLIENT_SECRET');
  if (secret !== undefined) return library.ClientSecretPost(secret);
  const certificate = variable('AZURE_CLIENT_CERTIFICATE_PATH');
  if (certificate !== undefined) return byCertificate(readFileSync(certificate, 'utf8'), audience, library);
  const tokenFile = variable('AZURE_FEDERATED_TOKEN_FILE');
  if (tokenFile !== undefined) return byTokenIn(tokenFile);
  throw new Error(
    'none of AZURE_CLIENT_SECRET, AZURE_CLIENT_CERTIFICATE_PATH and AZURE_FEDERATED_TOKEN_FILE is set',
  );
}

/** An assertion that the certificate's key signs, with the certificate's thumbprint. */
async function byCertificate(
  pem: string,
  audience: string,
  library: typeof import('openid-client'),
): Promise<ClientAuth> {
  const pkcs8 = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' });
  const algorithm = { name: 'RSA-PSS', hash: 'SHA-256' };
  const key = await webcrypto.subtle.importKey('pkcs8', pkcs8, algorithm, false, ['sign']);
  const thumbprint = createHash('sha256').update(new X509Certificate(pem).raw).digest('base64url');
  return library.PrivateKeyJwt(key, {
    [library.modifyAssertion]: (header, claims) => {
      header['x5t#S256'] = thumbprint;
      // Entra asks for the address, the library gives the issuer.
      claims['aud'] = audience;
    },
  });
}

/** The assertion that the platform writes into a file, and renews there. */
function byTokenIn(path: string): ClientAuth {
  return (_server, client, body) => {
    body.set('client_id', client.client_id);
    body.set('client_assertion_type', ASSERTION_TYPE);
    body.set('client_assertion', readFileSync(path, 'utf8').trim());
  };
}

function needed(variable: Variable, name: string): string {
  const value = variable(name);
  if (value === undefined || value === '') throw new Error(`${name} is not set`);
  return value;
}
