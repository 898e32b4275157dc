import type { ActivityAction, Navigation, SignInErrorCode } from '@gatehouse/contract';
import { pathOf } from '@gatehouse/http';
import { readSessionCookies, type SessionCookies } from './cookies.ts';
import { apiErrorFor } from './error-edge.ts';
import type { Exchange } from './exchange.ts';
import { ownOrigin } from './own-origin.ts';
import type { RecorderFor } from './recorder.ts';
import type { Route } from './router.ts';
import type { HttpDependencies } from './server.ts';

/** A browser that follows a navigation. */
export interface Visit {
  readonly requestId: string;
  /** For display and the activity log only; see source-ip.ts. */
  readonly sourceIp: string;
  /** See Caller in caller.ts. */
  readonly network: string | undefined;
  readonly query: URLSearchParams;
  readonly cookies: SessionCookies;
  readonly cookieHeader: string | undefined;
  /** The service's own, as the browser addressed it: `https://gatehouse.example.com`. */
  readonly origin: string;
  /** Aborts when the browser leaves. */
  readonly gone: AbortSignal;
  readonly recorderFor: RecorderFor<ActivityAction>;
}

/** An answer that sends the browser on. */
export interface Redirect {
  readonly status: 302 | 303;
  readonly location: string;
  /** Whole `Set-Cookie` values. */
  readonly setCookies?: readonly string[];
}

/** A navigation of the contract with its handler. */
export interface NavigationImplementation {
  readonly navigation: Navigation;
  readonly handle: (visit: Visit) => Promise<Redirect>;
}

/** The redirect to the page that explains a failed sign-in. */
export function refusal(code: SignInErrorCode): Redirect {
  return { status: 303, location: `/sign-in?error=${code}` };
}

/** The route of a navigation. Whatever fails, a person sees a page, and not JSON. */
export function navigationRoute(
  { log, recordsFrom, settings }: Pick<HttpDependencies, 'log' | 'recordsFrom' | 'settings'>,
  { navigation, handle }: NavigationImplementation,
  base: string,
): Route {
  const visitOf = ({ id, request, caller, target, gone }: Exchange): Visit => ({
    requestId: id,
    sourceIp: caller.sourceIp,
    network: caller.network,
    query: new URLSearchParams(target.slice(pathOf(target).length + 1)),
    // A repeated one is nobody's, so there is no session that could be ended.
    cookies: readSessionCookies(request.headers.cookie) ?? {
      accessToken: undefined,
      refreshToken: undefined,
    },
    cookieHeader: request.headers.cookie,
    origin: settings.publicUrl ?? ownOrigin(request.headers, caller, settings.allowedHosts),
    gone,
    recorderFor: recordsFrom(caller.sourceIp),
  });
  return {
    method: 'GET',
    path: base + navigation.path,
    operation: navigation.name,
    async handle(exchange) {
      const { status, location, setCookies } = await handle(visitOf(exchange)).catch((error: unknown) => {
        apiErrorFor(error, exchange.id, log);
        return refusal('unavailable');
      });
      exchange.headers['location'] = location;
      if (setCookies) exchange.headers['set-cookie'] = [...setCookies];
      exchange.send(status, 'text/plain; charset=utf-8', `Go to ${location}\n`);
    },
  };
}
