import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import {
  type ActivityAction,
  ApiError,
  type Endpoint,
  hostFault,
  memberRules,
  methodNotAllowed,
  notFound,
  parseBody,
  parseQuery,
  roleRequired,
  type ServedHosts,
  unauthorized,
} from '@gatehouse/contract';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { type Caller, callerOf } from './caller.ts';
import { HINT_HEADER, hintForMissingCookies, hintForSetCookies } from './cookie-hint.ts';
import { readSessionCookies, type SessionCookies } from './cookies.ts';
import { refusalFor } from './error-edge.ts';
import { SECURITY_HEADERS } from './headers.ts';
import type { Implementation, Reply, Session } from './implement.ts';
import { listenerOptions } from './listener.ts';
import { logRequests, rememberSession } from './log-request.ts';
import { refuseForeignOrigin } from './origin.ts';
import { readJsonBody } from './read-body.ts';
import type { RecorderFor } from './recorder.ts';
import { pathOf, requestTarget } from './request-target.ts';
import type { ProxySettings } from './source-ip.ts';
import { goneSignal, sendStream } from './stream.ts';

export interface HttpSettings extends ProxySettings {
  /** Origins besides the service's own that may change state from a browser, lower-case. */
  readonly allowedOrigins: ReadonlySet<string>;
  /** The names that requests may be addressed to, besides localhost; health checks may come under any. */
  readonly allowedHosts: ServedHosts;
}

export interface HttpParts {
  readonly implementations: readonly Implementation[];
  /** The session that holds this access token right now, or undefined. */
  readonly findSession: (accessToken: string, gone: AbortSignal) => Promise<Session | undefined>;
  /** Lets a request of the organisation work with the database. */
  readonly organizationPermit: (
    organizationId: string,
    gone: AbortSignal,
  ) => Disposable | Promise<Disposable>;
  /** What keeps the service from serving, in a few words each; empty when it can serve. */
  readonly missing: () => Promise<readonly string[]>;
  /** Records events of the activity log that come from an address. */
  readonly recordsFrom: (sourceIp: string) => RecorderFor<ActivityAction>;
  readonly log: Logger;
  readonly settings: HttpSettings;
}

const BASE = '/api';
const HEALTH_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

/** The HTTP server of the control plane, not yet listening. */
export function createServer(parts: HttpParts): FastifyInstance {
  const server = fastify({
    logger: false,
    genReqId: () => randomUUID(),
    // A request with a path parameter longer than any id is answered like one with an unknown id.
    routerOptions: { maxParamLength: 16_384 },
    exposeHeadRoutes: false,
    rewriteUrl: (request) => requestTarget(request.url ?? '/'),
    ...listenerOptions(parts.log),
    forceCloseConnections: 'idle',
    // While it closes, what comes on a connection that is still open is answered like everything else.
    return503OnClosing: false,
  });
  // Node would refuse an expectation that it does not know; it may as well be passed over.
  server.server.on('checkExpectation', (request, response) =>
    server.server.emit('request', request, response),
  );

  // Bodies are read by the endpoint's handler, after the session is known, and by nobody where there is none to
  // be read: then neither the body nor what it calls itself can be wrong.
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY']) {
    server.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }

  server.addHook('onRequest', async (request, reply) => {
    reply.headers({ ...SECURITY_HEADERS, 'x-request-id': request.id, 'cache-control': 'no-store' });
    refuseForeignHost(request, parts.settings.allowedHosts);
  });
  logRequests(server, parts.log);
  server.setErrorHandler((error, request, reply) =>
    sendRefusal(reply, refusalFor(error, request.id, parts.log)),
  );
  server.setNotFoundHandler((request, reply) => sendRefusal(reply, unknownPath(parts, request)));

  const warnOfPlainHttp = warnOnce(parts.log);
  for (const implementation of parts.implementations) {
    addRoute(server, parts, implementation, warnOfPlainHttp);
  }
  addIndex(server);
  addHealth(server, parts);
  return server;
}

// Guarded by host.http.test.ts.
function refuseForeignHost({ raw, originalUrl, url }: FastifyRequest, served: ServedHosts): void {
  const fault = hostFault(
    { rawHeaders: raw.rawHeaders, url: originalUrl, httpVersion: raw.httpVersion },
    served,
  );
  if (fault === undefined || (fault.status === 421 && HEALTH_PATHS.has(pathOf(url)))) return;
  throw new ApiError(fault.status, { error: fault.sentence });
}

function addRoute(
  server: FastifyInstance,
  parts: HttpParts,
  implementation: Implementation,
  warnOfPlainHttp: (hint: string) => void,
): void {
  const { endpoint } = implementation;
  server.route({
    method: endpoint.method,
    url: BASE + endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: { operation: endpoint.name },
    handler: async (request, reply) => {
      if (endpoint.exports.length > 0) reply.header('vary', 'Accept');
      const { headers, socket } = request.raw;
      const caller = callerOf(headers, socket.remoteAddress, parts.settings);
      try {
        const answered = await answer(parts, implementation, request, caller, goneSignal(reply));
        if ('pieces' in answered) return sendStream(reply, endpoint.status, answered, parts.log);
        const hint = answered.setCookies && caller.isPlainHttp && hintForSetCookies(headers.host);
        if (hint) {
          warnOfPlainHttp(hint);
          reply.header(HINT_HEADER, hint);
        }
        return send(reply, endpoint.status, answered);
      } catch (error) {
        const refusal = refusalFor(error, request.id, parts.log);
        if (refusal.status === 401 && 'detail' in refusal.body && caller.isPlainHttp) {
          const hint = hintForMissingCookies(headers.cookie);
          if (hint) reply.header(HINT_HEADER, hint);
        }
        // Whatever is left of a body that was not read goes with the connection.
        if (refusal.status === 413) reply.header('connection', 'close');
        return sendRefusal(reply, refusal);
      }
    },
  });
}

async function answer(
  parts: HttpParts,
  { endpoint, handle, holdsPermit }: Implementation,
  request: FastifyRequest,
  caller: Caller,
  gone: AbortSignal,
) {
  const { headers } = request;
  if (endpoint.method !== 'GET') {
    refuseForeignOrigin(
      {
        secFetchSite: header(headers, 'sec-fetch-site'),
        origin: header(headers, 'origin'),
        host: header(headers, 'host'),
      },
      parts.settings.allowedOrigins,
    );
  }
  const cookies = readSessionCookies(headers.cookie);
  if (!cookies) throw unauthorized();
  const session = endpoint.access === 'session' ? await requireSession(parts, cookies, gone) : undefined;
  if (session) rememberSession(request, session);
  // Before anything of the request is read: whoever may not do it learns nothing about how it is done.
  if (session && endpoint.roles && !endpoint.roles.includes(session.role)) throw roleRequired(endpoint.roles);

  const question = request.url.indexOf('?');
  const { query, body } = await readParts(
    endpoint,
    request,
    question < 0 ? '' : request.url.slice(question + 1),
  );
  // Only once the whole request has arrived: a slow sender must not hold a permit.
  using _ = session && holdsPermit ? await parts.organizationPermit(session.organizationId, gone) : undefined;
  return await handle(
    {
      requestId: request.id,
      sourceIp: caller.sourceIp,
      network: caller.network,
      params: request.params as Record<string, string>,
      query,
      body,
      cookies,
      header: (name) => header(headers, name),
      gone,
      recorderFor: parts.recordsFrom(caller.sourceIp),
    },
    session,
  );
}

async function requireSession(
  parts: HttpParts,
  { accessToken }: SessionCookies,
  gone: AbortSignal,
): Promise<Session> {
  const session = accessToken === undefined ? undefined : await parts.findSession(accessToken, gone);
  if (!session) throw unauthorized();
  return session;
}

async function readParts(endpoint: Endpoint, request: FastifyRequest, search: string) {
  const query = parseQuery(endpoint.query, search);
  if (!endpoint.body) return { query, body: undefined };
  const body = await readJsonBody(request.raw, memberRules(endpoint.body));
  return { query, body: parseBody(endpoint.body, body) };
}

function header(headers: IncomingMessage['headers'], name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** Tells the operator of the first sign-in that cannot work; who signs in is told each time. */
function warnOnce(log: Logger): (hint: string) => void {
  let isTold = false;
  return (hint) => {
    if (!isTold)
      log.warn({ event: 'session.cookies_over_plain_http', hint }, 'session cookies sent over plain HTTP');
    isTold = true;
  };
}

function send(reply: FastifyReply, status: number, { body, setCookies }: Reply<unknown>): FastifyReply {
  if (setCookies) reply.header('set-cookie', [...setCookies]);
  return sendJson(reply, status, body);
}

function sendRefusal(reply: FastifyReply, refusal: ApiError): FastifyReply {
  return sendJson(reply.headers(refusal.headers), refusal.status, refusal.body);
}

function sendJson(reply: FastifyReply, status: number, body: unknown): FastifyReply {
  return reply
    .code(status)
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify(body));
}

/** 405 where the path exists with another method, else 404. */
function unknownPath(parts: HttpParts, request: FastifyRequest): ApiError {
  const path = decodeURI(pathOf(request.url));
  const allowed = parts.implementations
    .filter(({ endpoint }) => pathPattern(endpoint).test(path))
    .map(({ endpoint }) => endpoint.method);
  if (allowed.length > 0) return methodNotAllowed([...new Set(allowed)].sort());
  return path === '/' || HEALTH_PATHS.has(path) ? methodNotAllowed(['GET']) : notFound('Path');
}

function pathPattern(endpoint: Endpoint): RegExp {
  return new RegExp(`^${BASE}${endpoint.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}

const INDEX = `This is the API of Gatehouse. Its endpoints are below /api of this address: sign in with POST /api/auth/login.
Model requests go to the gateway, on a port of its own (GATEWAY_PORT, 8081 unless set), below /v1.

  POST /api/auth/register   an account, and its organisation
  POST /api/auth/login      a session
  GET  /healthz             whether the process is up
  GET  /readyz              whether it can serve
`;

/** What a person finds who opens the address. */
function addIndex(server: FastifyInstance): void {
  server.get('/', (_request, reply) => reply.type('text/plain; charset=utf-8').send(INDEX));
}

/** For a load balancer or a supervisor: whether the process is up, and whether it can serve. */
function addHealth(server: FastifyInstance, parts: HttpParts): void {
  server.get('/healthz', (_request, reply) => sendJson(reply, 200, { status: 'up' }));
  server.get('/readyz', async (_request, reply) => {
    const missing = await parts.missing();
    if (missing.length === 0) return sendJson(reply, 200, { status: 'ready' });
    return sendJson(reply, 503, { status: 'not ready', missing });
  });
}
