import { type Clock, finishesWithin, Registry, systemClock, type Timers } from '@gatehouse/concurrency';
import {
  type Certificate,
  isHealthPath,
  type ListenAddress,
  pathOf,
  traceparentOf,
  UnreadAnswers,
} from '@gatehouse/http';
import { direct, type ProxyOf } from '@gatehouse/http/outgoing';
import { Metrics, type Tracing } from '@gatehouse/observability';
import type { Database, KeyRing } from '@gatehouse/store';
import type { Logger } from 'pino';
import { MAX_ANSWER_BYTES } from './attempt/whole-answer.ts';
import { ByteBudget } from './bodies/byte-budget.ts';
import { Facts } from './catalogue/facts.ts';
import { PreviousUse } from './catalogue/previous-use.ts';
import { createKeyReads } from './catalogue/read-keys.ts';
import type { StepSettings } from './context/dependencies.ts';
import { createAdmissions } from './credit/admissions.ts';
import { MODEL_ENDPOINTS } from './endpoints/model-endpoints.ts';
import { type Endpoint, handlerOf, servedBy } from './endpoints/path-table.ts';
import { type ServeDependencies, serve } from './endpoints/serve.ts';
import type { GatewayError } from './errors/gateway-error.ts';
import { toGatewayError } from './errors/to-gateway-error.ts';
import { sendError } from './exchange/answers.ts';
import { Exchange } from './exchange/exchange.ts';
import { limitStatements } from './exchange/limit-statements.ts';
import type { MetadataHeaders } from './exchange/metadata.ts';
import { MetadataBudget } from './exchange/metadata-budget.ts';
import { createPermits } from './exchange/permits.ts';
import { ReadOns } from './exchange/read-ons.ts';
import { newRequestId } from './exchange/request-id.ts';
import { type CorsOrigins, crossOriginHeaders } from './http/cross-origin.ts';
import { showDescription } from './http/description.ts';
import { showHealth, showReadiness } from './http/health.ts';
import { createHttpServer, type ServerSettings } from './http/server.ts';
import { showWhatIsServed } from './http/what-is-served.ts';
import type { Journal } from './journal/journal.ts';
import { KeptItems } from './kept-items/kept-items.ts';
import { GatewayMetrics } from './observed/gateway-metrics.ts';
import type { LogContext } from './observed/log-request.ts';
import { observeGateway } from './observed/observe-gateway.ts';
import { RefusedRequests } from './observed/refused-requests.ts';
import { RequestLines } from './observed/request-lines.ts';
import { endRequest } from './observed/request-span.ts';
import { createCloudCredentials } from './providers/cloud/cloud-credentials.ts';
import { createUpstreams } from './providers/upstreams.ts';
import type { RateLimiter } from './rates/rate-limiter.ts';
import { createSlidingWindow } from './rates/sliding-window.ts';
import { createReaderPool } from './readers/reader-pool.ts';
import { createRouting } from './routing/routing.ts';

export interface Settings extends StepSettings, ServerSettings {
  /** The highest rate of any key, in requests per minute; none unless given. */
  readonly rateLimitCeilingRpm?: number;
  /** The origins whose pages may use the gateway from a browser; none unless given. */
  readonly corsOrigins?: CorsOrigins;
  /** The clients' headers that are kept as metadata; none unless given. */
  readonly metadataHeaders?: MetadataHeaders;
}

export interface GatewayDependencies {
  readonly database: Database;
  readonly journal: Journal;
  readonly log: Logger;
  readonly clock: Clock;
  readonly settings: Settings;
  /** The platform's own key for a provider, by the name of its environment variable. */
  readonly platformKey: (envName: string) => string | undefined;
  /** The master keys that stored provider keys are under. */
  readonly keyRing: KeyRing;
  /** Counts in this process unless given. */
  readonly rates?: RateLimiter;
  /** The metrics that it counts in; nowhere that can be read unless given. */
  readonly metrics?: Metrics | undefined;
  /** Nothing is traced unless given. */
  readonly tracing?: Tracing | undefined;
  /** The proxies to providers; none unless given. */
  readonly proxyOf?: ProxyOf;
  /** Real ones unless given. */
  readonly timers?: Timers;
  /** Chooses between upstreams, from 0 up to but not including 1; Math.random unless given. */
  readonly random?: () => number;
  /** With bounds of their own, for tests. */
  readonly unreadAnswers?: UnreadAnswers;
  /** How long a request waits for the database; two seconds unless given. */
  readonly databaseTimeoutMs?: number;
}

export interface Gateway extends AsyncDisposable {
  /** Accepts requests from here on. Port 0 takes a free one; the answer says which. */
  listen(address: ListenAddress): Promise<{ readonly port: number }>;
  /** New connections get this certificate. To be called only on a gateway that has one. */
  useCertificate(certificate: Certificate): void;
  /** From here on `/readyz` answers 503 and each connection closes after its next answer. Everything else is served. */
  announceStop(): void;
  /**
   * Accepts nothing more, gives the requests in flight `graceMs` to finish, ends the others, and resolves once
   * every one of them is recorded. A second call joins the first.
   */
  close(options: { readonly graceMs: number }): Promise<void>;
  /** Resolves once the holds of all requests that have finished are lowered to what they cost. */
  flush(): Promise<void>;
}

export const DATABASE_TIMEOUT_MS = 2_000;
const DEFAULT_GRACE_MS = 25_000;
// For the last answers to leave once all requests are recorded.
const FLUSH_MS = 1_000;
// Bytes in flight at once, in bodies of the largest size.
export const BODIES_AT_ONCE = 16;
// Of those, what one organisation may have: a quarter.
export const BODIES_AT_ONCE_OF_ONE = 4;
// The room beside, for small bodies alone, and what one organisation may have of it.
export const SMALL_BODIES_BYTES = 32 * 1024 ** 2;
export const SMALL_BODIES_BYTES_OF_ONE = 2 * 1024 ** 2;

// Clients ask for these, without a key, to see whether the gateway is there.
const PROBED = ['/', '/api/hello'];

export function createGateway(given: GatewayDependencies): Gateway {
  const { clock, log, journal, settings, platformKey, tracing, timers = systemClock } = given;
  const databaseTimeoutMs = given.databaseTimeoutMs ?? DATABASE_TIMEOUT_MS;
  const database = limitStatements(given.database, databaseTimeoutMs);
  const permits = createPermits(databaseTimeoutMs);
  const readers = createReaderPool({
    timers,
    log,
    largestBodyBytes: Math.max(settings.bodyLimitBytes, MAX_ANSWER_BYTES),
  });
  // Answers take of the same room, and the largest of them must fit into an organisation's share.
  const largestBytes = Math.max(settings.bodyLimitBytes, MAX_ANSWER_BYTES / BODIES_AT_ONCE_OF_ONE);
  const bodies = new ByteBudget(BODIES_AT_ONCE * largestBytes, BODIES_AT_ONCE_OF_ONE * largestBytes);
  const registry = given.metrics ?? new Metrics();
  const metrics = new GatewayMetrics(registry);
  const dependencies: ServeDependencies = {
    metrics,
    database,
    permits,
    facts: new Facts(),
    keyReads: createKeyReads(
      database,
      new PreviousUse(database, clock, log),
      databaseTimeoutMs,
      settings.rateLimitCeilingRpm,
    ),
    admissions: createAdmissions(database, databaseTimeoutMs),
    journal,
    log,
    clock,
    timers,
    settings,
    platformKey,
    keyRing: given.keyRing,
    bodies,
    unreadAnswers: given.unreadAnswers ?? new UnreadAnswers(),
    smallBodies: new ByteBudget(SMALL_BODIES_BYTES, SMALL_BODIES_BYTES_OF_ONE),
    readers,
    readOns: new ReadOns(),
    rates: given.rates ?? createSlidingWindow(() => clock.monotonicMs()),
    refused: new RefusedRequests({ journal, clock, timers, log }),
    metadata: new MetadataBudget(settings.metadataHeaders ?? new Map(), () => clock.monotonicMs()),
    keptItems: new KeptItems(database, log, () => clock.monotonicMs()),
    upstreams: createUpstreams(clock, readers, bodies, { proxyOf: given.proxyOf ?? direct, log }),
    cloud: createCloudCredentials({
      variable: platformKey,
      proxyOf: given.proxyOf ?? direct,
      clock,
      log,
    }),
    routing: createRouting({ clock, timers, log, database, random: given.random }),
  };
  const endpoints: ReadonlyMap<string, Endpoint> = new Map<string, Endpoint>([
    ...MODEL_ENDPOINTS.map((endpoint): [string, Endpoint] => {
      const { operation, method, path } = endpoint;
      return [path, { operation, [method]: (exchange: Exchange) => serve(endpoint, exchange, dependencies) }];
    }),
    ...PROBED.map((path): [string, Endpoint] => [
      path,
      { operation: 'whatIsServed', GET: showWhatIsServed(() => servedBy(endpoints)) },
    ]),
    ['/v1/openapi.json', { operation: 'describe', GET: showDescription }],
    ['/healthz', { operation: 'healthz', GET: showHealth }],
    [
      '/readyz',
      {
        operation: 'readyz',
        GET: showReadiness({
          ...dependencies,
          database: given.database,
          isStopping: () => listener.isStopping,
        }),
      },
    ],
  ]);

  const paths = new Map<unknown, string>([...endpoints].map(([path, { operation }]) => [operation, path]));
  const lines = new RequestLines({ log, clock, timers });
  const inFlight = new Registry<{ readonly exchange: Exchange; readonly done: Promise<void> }>();
  observeGateway(registry, dependencies, () => inFlight.size);
  let closing: Promise<void> | undefined;
  let phase: 'open' | 'draining' | 'ending' = 'open';

  const handle = async (exchange: Exchange, arrivalError: GatewayError | undefined): Promise<LogContext> => {
    let context: LogContext = {};
    try {
      if (arrivalError) throw arrivalError;
      const { operation, handler } = handlerOf(endpoints, exchange);
      context = { operation };
      return { ...context, ...(await handler(exchange)) };
    } catch (error) {
      const refused = toGatewayError(error, exchange, log);
      sendError(exchange, refused, {});
      return { ...context, remark: refused.remark, refusal: refused.code };
    }
  };

  const listener = createHttpServer(
    settings,
    (fields) => {
      lines.writeNoRequest(fields);
      metrics.malformed(fields.status);
    },
    (request, response, { expectsContinue, error, nextBegun }) => {
      const exchange = new Exchange(
        newRequestId(clock.epochMs()),
        request,
        response,
        clock,
        expectsContinue,
        timers,
      );
      exchange.crossOrigin = crossOriginHeaders(request, settings.corsOrigins);
      if (tracing && !isHealthPath(pathOf(request.url ?? '')))
        exchange.span = tracing.begin(request.method ?? '', traceparentOf(request.headers));
      if (phase === 'ending') exchange.stop('stopping');
      const done = handle(exchange, error)
        .catch((error: unknown): LogContext => {
          log.error(
            { event: 'request.answer_failed', request_id: exchange.id, err: error },
            'answer not written; connection closed',
          );
          response.destroy();
          return {};
        })
        .then(async (context) => {
          lines.write(exchange, context);
          metrics.ended(exchange, context, clock.monotonicMs());
          endRequest(exchange, context, paths.get(context.operation));
          // The next request of the connection is in flight too.
          await nextBegun();
          remove();
        });
      const remove = inFlight.add({ exchange, done });
    },
  );

  const close = async (graceMs: number): Promise<void> => {
    phase = 'draining';
    const isClosed = listener.drain();
    // A request may still come over a connection that was open: it counts like the others.
    const isFinished = async () => {
      while (inFlight.size > 0) await Promise.all(inFlight.items.map(({ done }) => done));
    };
    await finishesWithin(isFinished(), graceMs);
    phase = 'ending';
    for (const { exchange } of inFlight.items) exchange.stop('stopping');
    await isFinished();
    await finishesWithin(isClosed, FLUSH_MS);
    listener.server.closeAllConnections();
    await isClosed;
    await isFinished();
    await dependencies.admissions.drain();
    await dependencies.refused.close();
    lines.close();
    await Promise.all([dependencies.upstreams.close(), dependencies.routing.close(), readers.close()]);
  };

  return {
    listen: listener.listen,
    useCertificate: listener.useCertificate,
    announceStop: listener.announceStop,
    flush: () => dependencies.admissions.drain(),
    close({ graceMs }) {
      closing ??= close(graceMs);
      return closing;
    },
    async [Symbol.asyncDispose]() {
      await this.close({ graceMs: DEFAULT_GRACE_MS });
    },
  };
}
