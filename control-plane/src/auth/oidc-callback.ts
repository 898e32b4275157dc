import { createFairScheduler, systemClock } from '@gatehouse/concurrency';
import { oidcCallback as navigation } from '@gatehouse/contract';
import type { Logger } from 'pino';
import { type NavigationImplementation, refusal, type Visit } from '../http/navigate.ts';
import type { DatabaseFor } from '../scheduling.ts';
import type { ControlPlaneSettings } from '../settings.ts';
import { CALLBACK_PATH } from './oidc.ts';
import { exchangeCode, type OidcClient } from './openid/exchange-code.ts';
import { SignInFailure } from './openid/failure.ts';
import { endFlow, type Flow, findFlow } from './openid/flow.ts';
import { requireDomain } from './openid/identity.ts';
import { linkIdentity } from './openid/link-identity.ts';
import { signIn } from './sign-in.ts';
import { logFailedSignIn } from './sign-in-log.ts';

// Each answer costs a request to the issuer, or two, whatever its code is worth. So a few are checked at once, and one
// network has half of them.
const EXCHANGES = { permits: 16, permitsPerTenant: 8, queuePerTenant: 200, timeoutMs: 5_000 };

export interface OidcDependencies {
  readonly databaseFor: DatabaseFor;
  readonly log: Logger;
  readonly settings: ControlPlaneSettings;
  /** Undefined where no issuer is configured. */
  readonly client: OidcClient | undefined;
}

export function oidcCallback({
  databaseFor,
  log,
  settings,
  client,
}: OidcDependencies): NavigationImplementation {
  const exchanges = createFairScheduler(EXCHANGES);

  /** The session cookies of the identity behind the code. */
  const enter = async (own: OidcClient, flow: Flow, visit: Visit): Promise<readonly string[]> => {
    const answered = new URL(`${visit.origin}${CALLBACK_PATH}?${visit.query}`);
    const permit = await exchanges.acquire(visit.network ?? '', visit.gone).catch(() => {
      throw new SignInFailure('busy');
    });
    // Before any database connection is held, because this waits for the issuer.
    const identity = await exchangeCode(own, flow, answered).finally(() => permit[Symbol.dispose]());
    requireDomain(identity, own.settings.domains);
    const database = databaseFor(`oidc ${identity.subject}`, visit.gone);
    const { recorderFor, cookies } = visit;
    return database.transaction(async (tx) => {
      const linking = { oidc: own.settings, settings, nowMs: systemClock.epochMs(), recorderFor };
      const account = await linkIdentity(tx, identity, linking);
      return (await signIn(tx, account, { cookies, recorderFor })).setCookies ?? [];
    });
  };

  return {
    navigation,
    async handle(visit) {
      const { query, cookieHeader, requestId, sourceIp } = visit;
      if (!client) return refusal('not_configured');
      const flow = findFlow(query.get('state'), cookieHeader, systemClock.epochMs());
      if (!flow) return refusal('expired');
      const ended = endFlow(flow.state);
      try {
        const setCookies = await enter(client, flow, visit);
        return { status: 303, location: flow.returnTo, setCookies: [...setCookies, ended] };
      } catch (error) {
        if (!(error instanceof SignInFailure)) throw error;
        const { code, reason } = error;
        logFailedSignIn(log, 'oidc', { requestId, sourceIp, reason, emailHash: undefined });
        return { ...refusal(code), setCookies: [ended] };
      }
    },
  };
}
