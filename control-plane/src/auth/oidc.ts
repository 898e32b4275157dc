import { systemClock } from '@gatehouse/concurrency';
import { ApiError, oidc as navigation, oidcCallback } from '@gatehouse/contract';
import type { Logger } from 'pino';
import { type NavigationImplementation, refusal } from '../http/navigate.ts';
import { authorizationAddress, type OidcClient } from './openid/exchange-code.ts';
import { SignInFailure } from './openid/failure.ts';
import { beginFlow } from './openid/flow.ts';
import { logFailedSignIn } from './sign-in-log.ts';

/** The path that the issuer sends the browser back to; registered there with the service's origin before it. */
export const CALLBACK_PATH = `/api${oidcCallback.path}`;

export function oidc(client: OidcClient | undefined, log: Logger): NavigationImplementation {
  return {
    navigation,
    async handle({ query, cookieHeader, origin, requestId, sourceIp }) {
      if (!client) return refusal('not_configured');
      const { flow, setCookies } = beginFlow(query.get('return'), cookieHeader, systemClock.epochMs());
      try {
        const address = await authorizationAddress(client, flow, origin + CALLBACK_PATH);
        return { status: 302, location: address.href, setCookies };
      } catch (error) {
        // The reader of the issuer has logged why it cannot be reached.
        if (error instanceof ApiError && error.status === 503) return refusal('issuer_unavailable');
        if (!(error instanceof SignInFailure)) throw error;
        const { code, reason } = error;
        logFailedSignIn(log, 'oidc', { requestId, sourceIp, reason, emailHash: undefined });
        return refusal(code);
      }
    },
  };
}
