import { apiMetrics, type Metrics } from '@gatehouse/observability';

/** The metrics of the API. */
export class ApiMetrics {
  readonly #requests;
  readonly #requestSeconds;
  readonly #analyticsQueries;

  constructor(metrics: Metrics) {
    this.#requests = metrics.counter(apiMetrics.requests);
    this.#requestSeconds = metrics.histogram(apiMetrics.requestSeconds);
    this.#analyticsQueries = metrics.counter(apiMetrics.analyticsQueries);
  }

  /** Counts an answered request. `status` is undefined where the caller left before it was sent. */
  requestEnded(operation: string | undefined, status: number | undefined, ms: number): void {
    this.#requests.with(operation ?? '', status === undefined ? '' : String(status)).add();
    this.#requestSeconds.with(operation ?? '').observe(ms / 1_000);
  }

  /** Counts bytes on a connection that were no valid request. */
  malformed(status: number): void {
    this.#requests.with('', String(status)).add();
  }

  analyticsQuery(outcome: 'answered' | 'failed' | 'rejected'): void {
    this.#analyticsQueries.with(outcome).add();
  }
}
