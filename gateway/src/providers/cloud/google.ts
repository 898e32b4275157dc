import type { GoogleCredential } from '@gatehouse/contract';
import { createFetch, type ProxyOf } from '@gatehouse/http/outgoing';
import type { Issued } from './renewal.ts';

/** The vendor's tokens have an hour; one that does not say is taken for this long. */
const UNSTATED_LIFE_MS = 10 * 60_000;

/** Asks for access tokens with the application default credentials: the variable's file, the user's, or the machine's. */
export async function openGoogleTokens(
  { scopes }: Pick<GoogleCredential, 'scopes'>,
  proxyOf: ProxyOf,
): Promise<() => Promise<Issued<string>>> {
  const { GoogleAuth } = await import('google-auth-library');
  const fetchThrough = createFetch(proxyOf);
  // Where it exchanges the token of a federation, the vendor's code takes no other fetch, and reads HTTPS_PROXY itself.
  const fetchImplementation = (url: string | URL | Request, init?: RequestInit) =>
    fetchThrough(url instanceof Request ? url.url : String(url), init);
  const auth = new GoogleAuth({
    scopes: [...scopes],
    // Nothing here needs it; unless it is given, the code asks the cloud for it, and fails where it may not.
    projectId: 'none',
    clientOptions: { transporterOptions: { fetchImplementation: fetchImplementation as typeof fetch } },
  });
  return async () => {
    const client = await auth.getClient();
    const { token } = await client.getAccessToken();
    const { expiry_date } = client.credentials;
    if (!token) throw new Error('the application default credentials gave no access token');
    return { value: token, livesMs: expiry_date ? expiry_date - Date.now() : UNSTATED_LIFE_MS };
  };
}
