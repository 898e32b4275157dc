import { systemClock } from '@gatehouse/concurrency';
import { ApiError, oidc as navigation } from '@gatehouse/contract';
import { type NavigationImplementation, refusal } from '../http/navigate.ts';
import { authorizationAddress, type OidcClient } from './openid/exchange-code.ts';
import { SignInFailure } from './openid/failure.ts';
import { beginFlow } from './openid/flow.ts';

/** The path that the issuer sends the browser back to; registered there with the service's origin before it. */
export const CALLBACK_PATH = '/api/auth/oidc/callback';

export function oidc(client: OidcClient | undefined): NavigationImplementation {
  return {
    navigation,
    async handle({ query, cookieHeader, origin }) {
      if (!client) return refusal('not_configured');
      const { flow, setCookies } = beginFlow(query.get('return'), cookieHeader, systemClock.epochMs());
      try {
        const address = await authorizationAddress(client, flow, origin + CALLBACK_PATH);
        return { status: 302, location: address.href, setCookies };
      } catch (error) {
        if (error instanceof SignInFailure || (error instanceof ApiError && error.status === 503))
          return refusal('issuer_unavailable');
        throw error;
      }
    },
  };
}
