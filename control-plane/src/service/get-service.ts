import { finishesWithin } from '@gatehouse/concurrency';
import { API_VERSION, service } from '@gatehouse/contract';
import type { GoogleTokens } from '../auth/index.ts';
import { withoutSession } from '../http/implement.ts';
import type { ControlPlaneSettings } from '../settings.ts';

const CACHE_SECONDS = 60;
/** A page waits for this reply, so it does not wait for an issuer that is slow. */
const ISSUER_TIMEOUT_MS = 1_000;

export function getService(
  { gateway, oidc, passwordSignIn }: ControlPlaneSettings,
  google: GoogleTokens | undefined,
) {
  return withoutSession(service.getService, async () => {
    const gatewayPort = gateway.port();
    const authorizationUrl = google && (await findAuthorizationUrl(google));
    const isComplete = gatewayPort !== undefined && (!google || authorizationUrl !== undefined);
    return {
      body: {
        version: API_VERSION,
        gateway_url: gateway.url() ?? null,
        gateway_port: gatewayPort ?? null,
        google: google
          ? { client_id: google.clientId, authorization_endpoint: authorizationUrl ?? null }
          : null,
        oidc: oidc ? { label: oidc.label } : null,
        ...(passwordSignIn ? {} : { password_sign_in: false as const }),
      },
      ...(isComplete ? { cacheSeconds: CACHE_SECONDS } : {}),
    };
  });
}

/** Undefined while the issuer cannot be reached. */
async function findAuthorizationUrl({ issuer }: GoogleTokens): Promise<string | undefined> {
  const found = issuer.findDocument().catch(() => undefined);
  return (await finishesWithin(found, ISSUER_TIMEOUT_MS)) ? (await found)?.authorizationUrl : undefined;
}
