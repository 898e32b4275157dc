import type { Context } from '../context/context.ts';
import type { Dependencies } from '../context/dependencies.ts';
import type { Outcome } from '../context/outcome.ts';
import { type GatewayError, serviceUnavailable } from '../errors/gateway-error.ts';
import { upstreamTimedOut } from '../errors/upstream-errors.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Outgoing } from '../formats/outgoing.ts';
import type { UpstreamCall, UpstreamListener } from '../providers/upstream.ts';
import type { UpstreamHeaders } from '../wire/headers.ts';
import { type Redaction, redactionOf } from '../wire/redaction.ts';
import { EventTooLarge } from '../wire/sse.ts';
import { type AttemptLimit, type LimitTimes, RunningLimits } from './attempt-limits.ts';
import { outcomeOf } from './attempt-outcome.ts';
import { type AttemptEffect, type AttemptEvent, type AttemptState, next } from './attempt-state.ts';
import { Flow } from './flow.ts';
import { IncomingAnswer } from './incoming-answer.ts';
import { ReadOn } from './read-on.ts';
import { StreamSender } from './stream-sender.ts';
import { NO_ROOM, readWholeAnswer } from './whole-answer.ts';

/** The facts that are needed of a request that is sent. */
export type RelayContext = Pick<Context, 'key' | 'rate' | 'route' | 'heldBody' | 'sent'>;
export type RelayDependencies = Pick<
  Dependencies,
  'clock' | 'timers' | 'bodies' | 'readOns' | 'readers' | 'log'
>;

/** How an attempt is bounded, and what follows from whether it is the last. */
export interface AttemptLimits extends LimitTimes {
  /** True if another attempt may follow, as long as nothing of this one's answer has been sent. */
  readonly canBeFollowed: boolean;
  /** Called when content has come: this attempt is the one that the caller sees. */
  readonly onContent: () => void;
}

/**
 * One request to a provider, and its answer on the way back. It owns the sockets, the timers and the bytes, tells the table of
 * attempt-state.ts what happened, and does what that says.
 */
export class Relay implements UpstreamListener {
  readonly #context: RelayContext;
  readonly #outgoing: Outgoing;
  readonly #exchange: Exchange;
  readonly #limits: AttemptLimits;
  readonly #dependencies: RelayDependencies;
  readonly #redaction: Redaction | undefined;
  readonly #flow: Flow;
  readonly #sender: StreamSender;
  readonly #running: RunningLimits;
  readonly #outcome = Promise.withResolvers<Outcome>();
  readonly #answer: IncomingAnswer;
  #state: AttemptState = 'connecting';
  /** True once there is an outcome, or an error in its place. */
  #isOver = false;
  #inspected: Outcome | undefined;
  /** The tokens that had come when the caller left. */
  #receivedTokens: Promise<number> | undefined;

  constructor(
    context: RelayContext,
    exchange: Exchange,
    dependencies: RelayDependencies,
    limits: AttemptLimits,
  ) {
    this.#context = context;
    this.#outgoing = context.sent.outgoing;
    this.#limits = limits;
    this.#exchange = exchange;
    this.#dependencies = dependencies;
    this.#answer = new IncomingAnswer(this.#outgoing, limits.canBeFollowed);
    this.#redaction = redactionOf(context.sent.candidate.apiKey);
    this.#flow = new Flow({
      exchange,
      owner: context.key.organizationId,
      dependencies,
      keptBytes: () => this.#answer.keptBytes,
      onNoRoom: () => this.#take('no_room', serviceUnavailable('proxy_guillotine', NO_ROOM)),
    });
    this.#sender = new StreamSender(exchange, this.#flow, dependencies);
    this.#running = new RunningLimits(dependencies.timers, limits, (limit) => this.#onLimit(limit));
  }

  /** How far the attempt came at the provider. */
  get contact(): Pick<IncomingAnswer, 'head' | 'isUnreachable'> {
    return this.#answer;
  }

  /** Resolves with how it ended. Of a stream, everything but its end has then been sent. */
  run(): Promise<Outcome> {
    this.#exchange.onStop = (reason) => {
      if (reason === 'caller_gone') this.#onCallerGone();
      else this.#take('stopping', serviceUnavailable('proxy_guillotine'));
    };
    this.#running.enter(this.#state);
    try {
      this.#flow.of(this.#send());
    } catch (error) {
      this.#fail(error);
    }
    return this.#outcome.promise;
  }

  /** The answer is not sent after all: another attempt takes its place. */
  discard(): void {
    this.#flow.discard();
  }

  onStart(): void {
    this.#take('sent');
  }

  onHead(status: number, headers: UpstreamHeaders): void {
    if (this.#state === 'settled' || this.#answer.head) return;
    this.#exchange.upstreamStatus = status;
    this.#hear(() => this.#answer.onHead(status, headers));
  }

  onData(chunk: Buffer): void {
    if (this.#state === 'settled' || this.#state === 'inspecting') return;
    this.#flow.count(chunk.length, this.#answer.kind);
    this.#hear(() => this.#answer.onData(chunk));
    const rest = this.#answer.takeRest();
    if (rest) this.#hear(() => this.#answer.onData(rest));
  }

  onEnd(): void {
    this.#flow.onUpstreamFinished();
    if (this.#state !== 'settled') this.#hear(() => this.#answer.onEnd());
  }

  onFailure(error: Error): void {
    // What it sends too much of it goes on sending.
    if (!(error instanceof EventTooLarge)) this.#flow.onUpstreamFinished();
    if (this.#state !== 'settled') this.#take(this.#answer.onFailure(error), this.#answer.error);
  }

  /** Sends the request. The memory of its body is given back once it is on its way, unless another attempt needs it. */
  #send(): UpstreamCall {
    const { key, heldBody, sent } = this.#context;
    const { path, query, headers } = this.#outgoing;
    const { timeoutMs, canBeFollowed } = this.#limits;
    const onBodySent = () => {
      if (!canBeFollowed) heldBody.release();
    };
    const body = this.#outgoing.takeBody();
    const request = { owner: key.organizationId, path, query, headers, body, timeoutMs, onBodySent };
    return sent.candidate.upstream.send(request, this);
  }

  /** Takes what the provider's words amount to. */
  #hear(read: () => AttemptEvent): void {
    try {
      this.#take(read(), this.#answer.error);
    } catch (error) {
      if (error instanceof EventTooLarge) this.onFailure(error);
      else this.#fail(error);
    }
  }

  #onLimit(limit: AttemptLimit): void {
    const { timeoutMs } = this.#context.route;
    const { contentTimeoutMs = timeoutMs } = this.#limits;
    this.#take(limit, upstreamTimedOut(limit === 'content_limit' ? contentTimeoutMs : timeoutMs));
  }

  #onCallerGone(): void {
    if (!next(this.#state, 'caller_gone')) return;
    const { readers, readOns } = this.#dependencies;
    const { organizationId } = this.#context.key;
    this.#receivedTokens = this.#answer.stream?.countGenerated((texts) =>
      readers.countTokens(organizationId, texts),
    );
    // A count of tokens has no usage to learn.
    const isBilled = this.#outgoing.surface !== 'count_tokens';
    const isWanted = isBilled && this.#answer.hasMoreToSay && next(this.#state, 'caller_left') !== undefined;
    this.#take(isWanted && readOns.take(organizationId) ? 'caller_left' : 'caller_gone');
  }

  /** `error` is what the caller is told where the event ends the attempt. */
  #take(event: AttemptEvent, error?: GatewayError): void {
    const before = this.#state;
    const follow = next(before, event);
    if (!follow) return;
    const { state, effects } = follow;
    if (state !== before) this.#enter(state);
    try {
      for (const effect of effects) this.#do(effect, before, error);
    } catch (failure) {
      this.#fail(failure);
    }
  }

  #enter(state: AttemptState): void {
    this.#state = state;
    if (state !== 'streaming') this.#sender.stop();
    this.#running.enter(state);
  }

  #do(effect: AttemptEffect, before: AttemptState, error: GatewayError | undefined): void {
    const { callersStream, bytes, head, readOn } = this.#answer;
    switch (effect) {
      case 'begin':
        if (callersStream && head) this.#sender.begin(head, callersStream, this.#outgoing, this.#context);
        break;
      case 'pass':
        if (!callersStream || !bytes) break;
        this.#answer.bytes = undefined;
        this.#sender.pass(callersStream, bytes);
        if (callersStream.hasContent) this.#limits.onContent();
        break;
      case 'show':
        this.#take(this.#answer.show(), this.#answer.error);
        break;
      case 'count':
        this.#flow.update();
        break;
      case 'inspect':
        this.#inspect();
        break;
      case 'read_on':
        this.#beginReadOn(error);
        break;
      case 'read_all':
        readOn?.end(() => this.#take('all_read'));
        break;
      case 'answered':
        if (this.#inspected) this.#settle(this.#inspected);
        break;
      default:
        this.#settle(
          outcomeOf(effect, {
            answer: this.#answer,
            state: before,
            error,
            exchange: this.#exchange,
            outgoing: this.#outgoing,
            redaction: this.#redaction,
            receivedTokens: this.#receivedTokens,
          }),
        );
    }
  }

  #inspect(): void {
    const { head, collected } = this.#answer;
    if (!head || !collected) throw new Error('an answer without a head');
    const { blocks } = collected;
    this.#answer.collected = undefined;
    this.#answer.inspectedBytes = blocks.length;
    readWholeAnswer(head, blocks, this.#context, this.#exchange.id, this.#dependencies).then(
      (outcome) => {
        this.#inspected = outcome;
        this.#take('inspected');
      },
      (error: unknown) => this.#fail(error),
    );
  }

  /** The caller gets the error, or has left, but the provider is at work on an answer. */
  #beginReadOn(error: GatewayError | undefined): void {
    const { collected, callersStream } = this.#answer;
    this.#answer.readOn = new ReadOn({
      outgoing: this.#outgoing,
      collected: collected?.blocks.take() ?? [],
      stream: callersStream,
      error,
      onRead: () => this.#flow.update(),
      onClose: () => {
        if (!error) this.#dependencies.readOns.give(this.#context.key.organizationId);
      },
    });
    this.#flow.open();
    this.#flow.update();
  }

  #settle(outcome: Outcome): void {
    const isEnding = outcome.kind === 'streamed' || this.#answer.stream?.isDone === true;
    this.#letGo();
    this.#flow.end(
      outcome.kind === 'answered' ? outcome.body : this.#exchange.response.writableLength,
      isEnding,
    );
    this.#outcome.resolve(outcome);
  }

  #letGo(): void {
    this.#isOver = true;
    this.#answer.close();
    this.#exchange.onStop = undefined;
  }

  /** An internal error: there is no outcome, and the edge logs it. */
  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.#enter('settled');
    this.#letGo();
    this.#flow.end(0, false);
    this.#outcome.reject(error);
  }
}
