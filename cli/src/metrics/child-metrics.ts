import { finishesWithin } from '@gatehouse/concurrency';
import type { ProcessMetrics } from '@gatehouse/observability';

// Prometheus gives a scrape ten seconds. A process that is busy for longer than this tells its metrics the next time.
const MAX_ANSWER_MS = 2_000;

/** Asks a process for its metrics, over the channel between it and its parent. */
export class MetricsRequests {
  readonly #send: (id: number) => void;
  #id = 0;
  #waiting: PromiseWithResolvers<ProcessMetrics> | undefined;

  constructor(send: (id: number) => void) {
    this.#send = send;
  }

  /** Undefined where it does not answer in time. An answer to an earlier request is ignored. */
  async request(): Promise<ProcessMetrics | undefined> {
    const waiting = Promise.withResolvers<ProcessMetrics>();
    this.#waiting = waiting;
    this.#id += 1;
    this.#send(this.#id);
    return (await finishesWithin(waiting.promise, MAX_ANSWER_MS)) ? waiting.promise : undefined;
  }

  answered(id: number, metrics: ProcessMetrics): void {
    if (id === this.#id) this.#waiting?.resolve(metrics);
  }
}
