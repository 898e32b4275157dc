import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { finishesWithin } from '@gatehouse/concurrency';
import {
  API_SECURITY_HEADERS,
  checkHost,
  createListener,
  type MalformedAnswers,
  pathOf,
  type ServedHosts,
  UnreadAnswer,
  UnreadAnswers,
} from '@gatehouse/http';
import type { Logger } from 'pino';

// A scrape is a request without a body, from a few programs.
const TIMEOUT_MS = 5_000;
const MAX_CONNECTIONS = 32;
const GRACE_MS = 1_000;
// However often it is asked, the text is made this often at most: a flood of scrapes costs the processes nothing more.
const FRESH_MS = 1_000;

export interface MetricsListenerOptions {
  readonly allowedHosts: ServedHosts;
  readonly contentType: string;
  /** Makes the text of one scrape. */
  readonly run: () => Promise<string>;
  readonly log: Pick<Logger, 'error'>;
  readonly monotonicMs: () => number;
  /** With a clock of their own, for tests. */
  readonly unreadAnswers?: UnreadAnswers;
}

export interface MetricsListener extends AsyncDisposable {
  listen(host: string, port: number): Promise<number>;
}

/** Answers `GET /metrics`, and anything else with 404. */
export function createMetricsListener(options: MetricsListenerOptions): MetricsListener {
  const { allowedHosts, contentType, log, unreadAnswers = new UnreadAnswers() } = options;
  const scrape = shareScrapes(options);
  // A connection that does not read its answer is closed: there are few, and Prometheus needs one.
  const send = (response: ServerResponse, status: number, text: string, type = PLAIN_TEXT) => {
    const body = Buffer.from(text);
    const length = { 'content-length': body.length };
    response.writeHead(status, { ...API_SECURITY_HEADERS, 'content-type': type, ...length });
    const answer = new UnreadAnswer(unreadAnswers, '', response);
    answer.end(response.req.method === 'HEAD' ? undefined : body);
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, url = '' } = request;
    const hostError = checkHost(request, allowedHosts);
    if (hostError) return send(response, hostError.status, `${hostError.sentence}\n`);
    const isScrape = (method === 'GET' || method === 'HEAD') && pathOf(url) === '/metrics';
    if (!isScrape) return send(response, 404, 'Not found. The metrics are at GET /metrics.\n');
    try {
      send(response, 200, await scrape(), contentType);
    } catch (error) {
      log.error({ event: 'metrics.collection_failed', err: error }, 'metrics not collected');
      send(response, 500, 'The metrics could not be collected.\n');
    }
  };

  const listener = createListener({
    headersTimeoutMs: TIMEOUT_MS,
    requestTimeoutMs: TIMEOUT_MS,
    answersExpectations: false,
    answersDuringHandling: false,
    malformed: MALFORMED,
    onRequest({ request, response }) {
      // A body that nobody reads goes with the connection.
      if (hasBody(request)) response.shouldKeepAlive = false;
      void answer(request, response);
    },
  });
  listener.server.maxConnections = MAX_CONNECTIONS;

  return {
    listen: async (host, port) => (await listener.listen({ host, port })).port,
    async [Symbol.asyncDispose]() {
      const drained = listener.drain();
      if (!(await finishesWithin(drained, GRACE_MS))) listener.server.closeAllConnections();
      await drained;
    },
  };
}

/** Requests that come while a scrape runs, and for a second after it, get its text. */
function shareScrapes({ run, monotonicMs }: MetricsListenerOptions): () => Promise<string> {
  let latest: Promise<string> | undefined;
  let freshUntilMs = Number.POSITIVE_INFINITY;
  return () => {
    if (latest && monotonicMs() < freshUntilMs) return latest;
    freshUntilMs = Number.POSITIVE_INFINITY;
    const current = run().finally(() => {
      freshUntilMs = monotonicMs() + FRESH_MS;
    });
    latest = current;
    return current;
  };
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

const PLAIN_TEXT = 'text/plain; charset=utf-8';

const MALFORMED: MalformedAnswers = {
  headers: API_SECURITY_HEADERS,
  newRequestId: randomUUID,
  bodies: {
    400: JSON.stringify({ error: 'The request is not valid HTTP.' }),
    408: JSON.stringify({ error: 'The request took too long to arrive.' }),
    431: JSON.stringify({ error: 'The headers are larger than what is accepted.' }),
  },
  log: () => undefined,
};
