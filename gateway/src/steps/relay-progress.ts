import type { Exchange } from '../pipeline/exchange.ts';
import type { Outcome } from '../pipeline/outcome.ts';
import type { Flow } from './flow.ts';
import { enter, type RelayState, readingOf } from './relay-state.ts';
import type { StreamSender } from './stream-sender.ts';

/** The state of a relay, and its one outcome. */
export class RelayProgress {
  readonly #exchange: Exchange;
  readonly #flow: Flow;
  readonly #sender: Pick<StreamSender, 'stop'>;
  readonly #outcome = Promise.withResolvers<Outcome>();
  #state: RelayState = { name: 'waiting' };
  /** Stops the route's time limit. */
  cancelTimer: () => void = () => {};

  constructor(exchange: Exchange, flow: Flow, sender: Pick<StreamSender, 'stop'>) {
    this.#sender = sender;
    this.#exchange = exchange;
    this.#flow = flow;
  }

  get state(): RelayState {
    return this.#state;
  }

  get outcome(): Promise<Outcome> {
    return this.#outcome.promise;
  }

  enter(next: RelayState): void {
    this.#state = enter(this.#state, next);
    if (next.name !== 'streaming') this.#sender.stop();
    if (next.name === 'inspecting') this.cancelTimer();
  }

  /** Ends the relay; only the first outcome counts. */
  settle(outcome: Outcome): void {
    const state = this.#state;
    if (state.name === 'settled') return;
    this.#release();
    const { writableLength } = this.#exchange.response;
    const waitingBytes = outcome.kind === 'answered' ? outcome.body.length : writableLength;
    this.#flow.end(waitingBytes, outcome.kind === 'streamed' || readingOf(state)?.isDone === true);
    this.#outcome.resolve(outcome);
  }

  /** An internal error: there is no outcome, and the edge logs it. */
  fail(error: unknown): void {
    if (this.#state.name === 'settled') return;
    this.#release();
    this.#flow.end(0, false);
    this.#outcome.reject(error);
  }

  #release(): void {
    const state = this.#state;
    this.enter({ name: 'settled' });
    this.cancelTimer();
    if (state.name === 'reading_on') state.readOn.close();
    this.#exchange.onStop = undefined;
  }
}
