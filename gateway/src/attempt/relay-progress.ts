import { type Aborted, CALLER_GONE_STATUS, type Outcome } from '../context/outcome.ts';
import type { GatewayError } from '../errors/gateway-error.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { AnswerReading } from '../formats/protocol.ts';
import type { Flow } from './flow.ts';
import { enter, headOf, type RelayState, readingOf, readingSoFar } from './relay-state.ts';
import type { StreamSender } from './stream-sender.ts';
import { type Head, isProviderError } from './whole-answer.ts';

/** How far an attempt came at the provider. */
export interface Contact {
  /** The provider's, once it has come. */
  readonly head: Head | undefined;
  /** True if no connection could be made. */
  readonly isUnreachable: boolean;
}

/** The state of a relay, and its one outcome. */
export class RelayProgress implements Contact {
  readonly #exchange: Exchange;
  readonly #flow: Flow;
  readonly #sender: Pick<StreamSender, 'stop'>;
  readonly #outcome = Promise.withResolvers<Outcome>();
  #state: RelayState = { name: 'waiting' };
  head: Head | undefined;
  isUnreachable = false;
  /** True if the provider may have seen the request. */
  wasStarted = false;
  /** The tokens that had come when the caller left. */
  receivedTokens: Promise<number> | undefined;
  /** Stops the route's time limit. */
  cancelTimer: () => void = () => {};
  /** Stops the wait for a usage after the end mark; undefined where none has begun. */
  cancelUsageTimer: (() => void) | undefined;
  /** Stops the time limit for the first content. */
  cancelContentTimer: () => void = () => {};

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
    if (next.name !== 'collecting' && next.name !== 'holding') this.cancelContentTimer();
  }

  /** Ends the relay; only the first outcome counts. */
  settle(outcome: Outcome): void {
    const state = this.#state;
    if (state.name === 'settled') return;
    this.#release();
    const { writableLength } = this.#exchange.response;
    const waiting = outcome.kind === 'answered' ? outcome.body : writableLength;
    this.#flow.end(waiting, outcome.kind === 'streamed' || readingOf(state)?.isDone === true);
    this.#outcome.resolve(outcome);
  }

  /** The caller gets the error instead of an answer. */
  refuse(error: GatewayError, reading?: AnswerReading): void {
    this.settle({ kind: 'refused', error, reading });
  }

  /** Ends it before the answer's end. */
  abort(termination: Aborted['termination'], upstreamError: string | null, finalEvent?: Buffer): void {
    const { response } = this.#exchange;
    this.settle({
      kind: 'aborted',
      status: response.headersSent ? response.statusCode : CALLER_GONE_STATUS,
      termination,
      upstreamError,
      ...readingSoFar(this.#state),
      hasWork: this.wasStarted && !isProviderError(headOf(this.#state)),
      isReadOn: this.#state.name === 'reading_on',
      receivedTokens: this.receivedTokens,
      finalEvent,
    });
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
    this.cancelUsageTimer?.();
    if (state.name === 'reading_on') state.readOn.close();
    if (state.name === 'collecting') state.answer.blocks.free();
    this.#exchange.onStop = undefined;
  }
}
