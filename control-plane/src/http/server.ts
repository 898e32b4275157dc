import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import {
  type ActivityAction,
  ApiError,
  type Endpoint,
  mayLackBody,
  memberRules,
  parseBody,
  parseQuery,
  roleRequired,
  type Secret,
  unauthorized,
} from '@gatehouse/contract';
import {
  type Arrival,
  BROWSER_SECURITY_HEADERS,
  type Certificate,
  checkHost,
  createListener,
  isHealthPath,
  type MalformedAnswers,
  pathOf,
  type ServedHosts,
  traceparentOf,
  UnreadAnswers,
} from '@gatehouse/http';
import type { Tracing } from '@gatehouse/observability';
import type { Logger } from 'pino';
import type { ApiMetrics } from './api-metrics.ts';
import { callerOf } from './caller.ts';
import { HINT_HEADER, hintForMissingCookies, hintForSetCookies } from './cookie-hint.ts';
import { readSessionCookies, type SessionCookies } from './cookies.ts';
import type { DashboardFiles } from './dashboard/dashboard-files.ts';
import { serveDashboard } from './dashboard/serve-dashboard.ts';
import { apiErrorFor } from './error-edge.ts';
import { Exchange } from './exchange.ts';
import { type GatewayAddress, unknownPath } from './gateway-address.ts';
import { healthRoutes } from './health-routes.ts';
import type { Implementation, Session } from './implement.ts';
import { indexText } from './index-text.ts';
import { logRequest } from './log-request.ts';
import { type NavigationImplementation, navigationRoute } from './navigate.ts';
import { refuseForeignOrigin } from './origin.ts';
import { hasBody, readJsonBody } from './read-body.ts';
import type { RecorderFor } from './recorder.ts';
import { referenceRoutes } from './reference/reference-routes.ts';
import { createRouter, type Route } from './router.ts';
import type { ProxySettings } from './source-ip.ts';
import { sendStream } from './stream.ts';

export interface HttpSettings extends ProxySettings {
  /** Origins besides the service's own whose pages may send state-changing requests, lower-case. */
  readonly allowedOrigins: ReadonlySet<string>;
  /** The host names that are served, besides localhost. Health checks are answered under every name. */
  readonly allowedHosts: ServedHosts;
  readonly gateway: GatewayAddress;
  /** The address at which browsers reach the service, without a slash at the end; undefined where their own requests say. */
  readonly publicUrl: string | undefined;
}

export interface HttpDependencies {
  readonly implementations: readonly Implementation[];
  readonly navigations?: readonly NavigationImplementation[];
  /** The live session with this access token, or undefined. */
  readonly findSession: (accessToken: Secret, gone: AbortSignal) => Promise<Session | undefined>;
  /** A permit for a request of the organisation to use the database. */
  readonly organizationPermit: (
    organizationId: string,
    gone: AbortSignal,
  ) => Disposable | Promise<Disposable>;
  /** The reasons why the service cannot serve, in a few words each; empty when it is ready. */
  readonly missing: () => Promise<readonly string[]>;
  /** Records events of the activity log that come from an address. */
  readonly recordsFrom: (sourceIp: string) => RecorderFor<ActivityAction>;
  /** The files of the dashboard as they are now; undefined where it is not served. */
  readonly dashboard?: (() => DashboardFiles) | undefined;
  readonly log: Logger;
  readonly metrics: ApiMetrics;
  /** Nothing is traced unless given. */
  readonly tracing?: Tracing | undefined;
  readonly settings: HttpSettings;
  /** The counter of answers that callers do not read; with the bounds of the service unless given. */
  readonly unreadAnswers?: UnreadAnswers;
  /** With it the server speaks HTTPS only. */
  readonly certificate?: Certificate | undefined;
}

export interface HttpServer {
  readonly server: Server;
  /** Port 0 takes a free one. */
  listen(address: { readonly host: string; readonly port: number }): Promise<{ readonly port: number }>;
  /** New connections get this certificate. To be called only on a server that has one. */
  useCertificate(certificate: Certificate): void;
  /** From here on `/readyz` answers 503 and each connection closes after its next answer. Everything else is served. */
  announceStop(): void;
  /** Accepts no more connections and resolves when all requests in flight are answered and logged. */
  close(): Promise<void>;
}

const BASE = '/api';
const HEADERS_TIMEOUT_MS = 9_000;
const REQUEST_TIMEOUT_MS = 15_000;

/** The HTTP server of the control plane, not yet listening. */
export function createServer(dependencies: HttpDependencies): HttpServer {
  const { implementations, dashboard, log, settings, metrics, tracing } = dependencies;
  const { unreadAnswers = new UnreadAnswers(), navigations = [] } = dependencies;
  const warnOfPlainHttp = warnOnce(log);
  const index = () => indexText(settings.gateway, dashboard !== undefined);
  const routes: Route[] = [
    ...implementations.map((implementation) => routeOf(dependencies, implementation, warnOfPlainHttp)),
    ...navigations.map((navigation) => navigationRoute(dependencies, navigation, BASE)),
    ...referenceRoutes(),
    {
      method: 'GET',
      path: '/',
      handle: async (exchange) => exchange.send(200, 'text/plain; charset=utf-8', index()),
    },
    ...healthRoutes(dependencies.missing, () => listener.isStopping),
  ];
  const router = createRouter(routes, (path) => unknownPath(path, settings.gateway));

  const handle = async ({ request, response }: Arrival): Promise<void> => {
    const caller = callerOf(request.headers, request.socket, settings);
    const exchange = new Exchange(request, response, caller, unreadAnswers);
    if (tracing && !isHealthPath(pathOf(exchange.target)))
      exchange.span = tracing.begin(request.method ?? '', traceparentOf(request.headers));
    response.once('close', () => logRequest(exchange, log, metrics));
    try {
      requireServedHost(exchange, settings.allowedHosts);
      if (dashboard && serveDashboard(exchange, dashboard())) return;
      await router.handle(exchange);
    } catch (error) {
      exchange.sendError(apiErrorFor(error, exchange.id, log));
    }
  };

  const listener = createListener({
    headersTimeoutMs: HEADERS_TIMEOUT_MS,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    answersExpectations: false,
    answersDuringHandling: true,
    malformed: malformedAnswers(log, metrics),
    certificate: dependencies.certificate,
    onRequest: (arrival) => void handle(arrival),
  });
  const { server, listen, useCertificate, announceStop, drain: close } = listener;
  return { server, listen, useCertificate, announceStop, close };
}

function malformedAnswers(log: Logger, metrics: ApiMetrics): MalformedAnswers {
  return {
    headers: BROWSER_SECURITY_HEADERS,
    newRequestId: randomUUID,
    bodies: {
      400: JSON.stringify({ error: 'The request is not valid HTTP.' }),
      408: JSON.stringify({ error: 'The request took too long to arrive.' }),
      431: JSON.stringify({ error: 'The headers are larger than what is accepted.' }),
    },
    log(fields) {
      metrics.malformed(fields.status);
      log.info({ event: 'http.request_malformed', ...fields }, 'malformed request');
    },
  };
}

// Guarded by host.http.test.ts.
function requireServedHost({ request, target }: Exchange, served: ServedHosts): void {
  const error = checkHost(request, served);
  if (error === undefined || (error.status === 421 && isHealthPath(pathOf(target)))) return;
  throw new ApiError(error.status, { error: error.sentence });
}

function routeOf(
  dependencies: HttpDependencies,
  implementation: Implementation,
  warnOfPlainHttp: (hint: string) => void,
): Route {
  const { endpoint } = implementation;
  const { log } = dependencies;
  return {
    method: endpoint.method,
    path: BASE + endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    operation: endpoint.name,
    async handle(exchange, params) {
      const { headers, request, caller } = exchange;
      if (endpoint.exports.length > 0) headers['vary'] = 'Accept';
      try {
        const reply = await answer(dependencies, implementation, exchange, params);
        if ('pieces' in reply) return await sendStream(exchange, endpoint.status, reply, log);
        const hint =
          reply.setCookies &&
          caller.isPlainHttp &&
          hintForSetCookies(request.headers.host, request.headers.cookie);
        if (hint) {
          if (hint.isForOperator) warnOfPlainHttp(hint.text);
          headers[HINT_HEADER] = hint.text;
        }
        if (reply.setCookies) headers['set-cookie'] = [...reply.setCookies];
        if (reply.cacheSeconds) headers['cache-control'] = `public, max-age=${reply.cacheSeconds}`;
        exchange.sendJson(endpoint.status, reply.body);
      } catch (thrown) {
        const error = apiErrorFor(thrown, exchange.id, log);
        if (error.status === 401 && 'detail' in error.body && caller.isPlainHttp) {
          const hint = hintForMissingCookies(request.headers.cookie);
          if (hint) headers[HINT_HEADER] = hint;
        }
        // The unread rest of the body goes with the connection.
        if (error.status === 413) headers['connection'] = 'close';
        exchange.sendError(error);
      }
    },
  };
}

async function answer(
  dependencies: HttpDependencies,
  { endpoint, handle, holdsPermit }: Implementation,
  exchange: Exchange,
  params: Readonly<Record<string, string>>,
) {
  const { request, gone, caller } = exchange;
  if (endpoint.method !== 'GET') {
    refuseForeignOrigin(
      {
        secFetchSite: exchange.header('sec-fetch-site'),
        origin: exchange.header('origin'),
        host: exchange.header('host'),
      },
      dependencies.settings.allowedOrigins,
    );
  }
  const cookies = readSessionCookies(request.headers.cookie);
  if (!cookies) throw unauthorized();
  const session =
    endpoint.access === 'session' ? await requireSession(dependencies, cookies, gone) : undefined;
  exchange.session = session;
  // Before anything of the request is read: an account without the role learns nothing about the request's shape.
  if (session && endpoint.roles && !endpoint.roles.includes(session.role)) throw roleRequired(endpoint.roles);

  const { query, body } = await readRequest(endpoint, exchange);
  // Only after the whole request has arrived: a slow sender must not hold a permit.
  using _ =
    session && holdsPermit ? await dependencies.organizationPermit(session.organizationId, gone) : undefined;
  return await handle(
    {
      requestId: exchange.id,
      sourceIp: caller.sourceIp,
      network: caller.network,
      params,
      query,
      body,
      cookies,
      header: (name) => exchange.header(name),
      gone,
      recorderFor: dependencies.recordsFrom(caller.sourceIp),
    },
    session,
  );
}

async function requireSession(
  { findSession }: HttpDependencies,
  { accessToken }: SessionCookies,
  gone: AbortSignal,
): Promise<Session> {
  const session = accessToken === undefined ? undefined : await findSession(accessToken, gone);
  if (!session) throw unauthorized();
  return session;
}

async function readRequest(endpoint: Endpoint, { request, target }: Exchange) {
  const query = parseQuery(endpoint.query, target.slice(pathOf(target).length + 1));
  if (!endpoint.body) return { query, body: undefined };
  const isWithout = !hasBody(request) && mayLackBody(endpoint);
  const body = isWithout ? {} : await readJsonBody(request, memberRules(endpoint.body));
  return { query, body: parseBody(endpoint.body, body) };
}

/** Warns the operator of the first sign-in whose cookies will not come back. Each caller gets the hint itself. */
function warnOnce(log: Logger): (hint: string) => void {
  let hasWarned = false;
  return (hint) => {
    if (!hasWarned)
      log.warn({ event: 'session.cookies_over_plain_http', hint }, 'session cookies sent over plain HTTP');
    hasWarned = true;
  };
}
