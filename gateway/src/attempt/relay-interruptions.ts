import type { Aborted } from '../context/outcome.ts';
import { type GatewayError, serviceUnavailable } from '../errors/gateway-error.ts';
import { upstreamFailed } from '../errors/upstream-errors.ts';
import type { Exchange, StopReason } from '../exchange/exchange.ts';
import { isConnectionError } from '../providers/connector.ts';
import { describeFailure } from '../providers/failures.ts';
import type { Flow } from './flow.ts';
import { ReadOn } from './read-on.ts';
import type { RelayProgress } from './relay-progress.ts';
import { hasMoreToSay, headOf, readingOf } from './relay-state.ts';
import type { DispatchContext, DispatchDependencies } from './send-request.ts';
import { brokenAnswer, isProviderError, NO_ROOM } from './whole-answer.ts';

/** The reasons that end the relay of an answer before the answer's own end. */
export class RelayInterruptions {
  readonly #context: DispatchContext;
  readonly #exchange: Exchange;
  readonly #dependencies: DispatchDependencies;
  readonly #progress: RelayProgress;
  readonly #flow: Flow;
  readonly #owner: string;

  constructor(
    context: DispatchContext,
    exchange: Exchange,
    dependencies: DispatchDependencies,
    progress: RelayProgress,
    flow: Flow,
  ) {
    this.#context = context;
    this.#exchange = exchange;
    this.#dependencies = dependencies;
    this.#progress = progress;
    this.#flow = flow;
    this.#owner = context.key.organizationId;
  }

  onStop(reason: StopReason): void {
    if (reason === 'caller_gone') this.#onCallerGone();
    else this.endEarly(serviceUnavailable('proxy_guillotine'), 'the gateway was stopped');
  }

  /** The connection to the provider failed, or what came over it is no answer. */
  onFailure(error: Error): void {
    const reason = describeFailure(error);
    const { state } = this.#progress;
    if (state.name === 'waiting') {
      this.#progress.isUnreachable = isConnectionError(error);
      this.#progress.refuse(upstreamFailed('The provider could not be reached.', reason));
    } else if (state.name === 'collecting') {
      this.#progress.refuse(brokenAnswer(reason));
    } else if (state.name === 'holding') {
      this.#progress.refuse(brokenAnswer(reason), state.held.reading);
    } else if (state.name === 'streaming') {
      this.endStreamEarly('upstream_stream_aborted', brokenAnswer(reason), reason);
    } else if (state.name === 'reading_on') {
      this.endReadOn(state.readOn);
    }
  }

  onNoRoom(): void {
    const error = serviceUnavailable('proxy_guillotine', NO_ROOM);
    const { name } = this.#progress.state;
    if (name === 'reading_on' || name === 'streaming') this.endEarly(error, NO_ROOM);
    else if (name !== 'inspecting' && name !== 'settled') this.beginReadOn(error);
  }

  /** Settles it before the answer's end, with the error as the last event of a stream. */
  endEarly(error: GatewayError, reason: string): void {
    const { state } = this.#progress;
    if (state.name === 'reading_on') this.endReadOn(state.readOn);
    else if (state.name === 'streaming') this.endStreamEarly('proxy_guillotine', error, reason);
    else if (state.name === 'holding') this.#progress.refuse(error, state.held.reading);
    else if (state.name !== 'inspecting') this.#progress.refuse(error);
  }

  /** The error is the last event, so that no client takes it for a broken connection. */
  endStreamEarly(termination: Aborted['termination'], error: GatewayError, reason: string): void {
    this.#progress.abort(
      termination,
      reason,
      this.#context.sent.outgoing.streamError(error, this.#exchange.id),
    );
  }

  /** The caller gets the error, or has left, but the provider is at work on an answer. */
  beginReadOn(error?: GatewayError): void {
    const { state } = this.#progress;
    const head = headOf(state);
    if (error && isProviderError(head)) {
      this.#progress.refuse(error);
      return;
    }
    const readOn = new ReadOn({
      outgoing: this.#context.sent.outgoing,
      timers: this.#dependencies.timers,
      collected: state.name === 'collecting' ? state.answer.blocks.take() : [],
      head,
      stream: readingOf(state),
      error,
      onTimeIsUp: () => this.endReadOn(readOn),
      onRead: () => this.#flow.update(),
      onClose: () => {
        if (!error) this.#dependencies.readOns.give(this.#owner);
      },
    });
    this.#progress.enter({ name: 'reading_on', readOn });
    this.#flow.open();
    this.#flow.update();
  }

  endReadOn({ error, reading }: ReadOn): void {
    if (error) this.#progress.refuse(error, reading);
    else this.#progress.abort('client_disconnect', null);
  }

  #onCallerGone(): void {
    const { state } = this.#progress;
    if (state.name === 'reading_on' || state.name === 'inspecting') return;
    const { readers, readOns } = this.#dependencies;
    this.#progress.receivedTokens = readingOf(state)?.countGenerated((texts) =>
      readers.countTokens(this.#owner, texts),
    );
    // A count of tokens has no usage to learn.
    const isBilled = this.#context.sent.outgoing.surface !== 'count_tokens';
    const isWanted = isBilled && this.#progress.wasStarted && hasMoreToSay(state);
    if (isWanted && readOns.take(this.#owner)) this.beginReadOn();
    else this.#progress.abort('client_disconnect', null);
  }
}
