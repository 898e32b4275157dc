import { gatewayMetrics, type Metrics } from '@gatehouse/observability';
import { isStatusOfUpstream } from '../attempt/failure-of.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { FinishedRequest } from '../journal/finished-request.ts';
import { type LogContext, statusOf } from './log-request.ts';

/** The model of a request whose model no route has. What a caller sends is never a label. */
const UNKNOWN_MODEL = 'other';
const CREDIT_REFUSALS: ReadonlySet<string> = new Set([
  'budget_exhausted',
  'key_credit_exhausted',
  'spend_limit_reached',
  'credit_held',
]);

/** The metrics of each request. */
export class GatewayMetrics {
  readonly #requests;
  readonly #requestSeconds;
  readonly #firstTokenSeconds;
  readonly #addedSeconds;
  readonly #tokens;
  readonly #cost;
  readonly #creditRefusals;
  readonly #attempts;
  readonly #attemptSeconds;

  constructor(metrics: Metrics) {
    this.#requests = metrics.counter(gatewayMetrics.requests);
    this.#requestSeconds = metrics.histogram(gatewayMetrics.requestSeconds);
    this.#firstTokenSeconds = metrics.histogram(gatewayMetrics.firstTokenSeconds);
    this.#addedSeconds = metrics.histogram(gatewayMetrics.addedSeconds);
    this.#tokens = metrics.counter(gatewayMetrics.tokens);
    this.#cost = metrics.counter(gatewayMetrics.cost);
    this.#creditRefusals = metrics.counter(gatewayMetrics.creditRefusals);
    this.#attempts = metrics.counter(gatewayMetrics.attempts);
    this.#attemptSeconds = metrics.histogram(gatewayMetrics.attemptSeconds);
  }

  /** Counts a request whose answer was written, or whose caller has left. */
  ended(exchange: Exchange, context: LogContext, nowMs: number): void {
    const { operation = '', model = '', route, refusal = '' } = context;
    const { startedAtMs, dispatchedAtMs, attemptEndedAtMs, leftAtMs } = exchange;
    const known = route ?? (model === '' ? '' : UNKNOWN_MODEL);
    this.#requests.with(operation, known, String(statusOf(exchange, context)), refusal).add();
    this.#requestSeconds.with(operation).observe(((leftAtMs ?? nowMs) - startedAtMs) / 1_000);
    if (dispatchedAtMs !== undefined && attemptEndedAtMs !== undefined && leftAtMs === undefined) {
      const addedMs = nowMs - attemptEndedAtMs + (dispatchedAtMs - startedAtMs);
      this.#addedSeconds.with(operation).observe(addedMs / 1_000);
    }
    if (CREDIT_REFUSALS.has(refusal)) this.#creditRefusals.with(refusal).add();
  }

  /** Counts bytes on a connection that were no valid request. */
  malformed(status: number): void {
    this.#requests.with('', '', String(status), 'invalid_request').add();
  }

  /** Counts what a request used, when it is recorded. `route` is the id of its route. */
  recorded(request: FinishedRequest, route: string | undefined): void {
    const { promptTokens, tokensGenerated, costMicroPkr, ttftMs, attempts } = request;
    if (attempts.length === 0) return;
    const model = route ?? UNKNOWN_MODEL;
    this.#count(model, 'prompt', promptTokens);
    this.#count(model, 'completion', tokensGenerated);
    this.#count(model, 'cache_read', request.cacheReadInputTokens);
    this.#count(model, 'cache_write', request.cacheCreationInputTokens);
    this.#cost.with(model).add(Number(costMicroPkr) / 1e6);
    if (ttftMs !== null) this.#firstTokenSeconds.with(model).observe(ttftMs / 1_000);
    for (const { provider, ending, status, totalMs } of attempts) {
      this.#attempts.with(provider, ending === 'error_status' ? errorOf(status) : ending).add();
      this.#attemptSeconds.with(provider).observe(totalMs / 1_000);
    }
  }

  #count(model: string, kind: string, tokens: number | null): void {
    if (tokens !== null && tokens > 0) this.#tokens.with(model, kind).add(tokens);
  }
}

/** An error of the request's, such as 400, is no failure of the provider. */
function errorOf(status: number | null): 'error_status' | 'request_error' {
  return status === null || isStatusOfUpstream(status) ? 'error_status' : 'request_error';
}
