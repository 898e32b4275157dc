import { freeMemorySoon } from '@gatehouse/http/free-memory';
import type { ByteBlocks } from '../bodies/byte-blocks.ts';
import { SMALL_BODY_BYTES } from '../bodies/held-body.ts';
import type { Outcome } from '../context/outcome.ts';
import { upstreamTimedOut } from '../errors/upstream-errors.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { CallersStream, Outgoing } from '../formats/outgoing.ts';
import type { StreamReading } from '../formats/protocol.ts';
import { unusableHead } from '../providers/headers.ts';
import type { UpstreamListener } from '../providers/upstream.ts';
import type { UpstreamHeaders } from '../wire/headers.ts';
import { type Redaction, redactionOf } from '../wire/redaction.ts';
import { EventTooLarge } from '../wire/sse.ts';
import { CollectedAnswer } from './collected-answer.ts';
import { type AnswerKind, Flow } from './flow.ts';
import { HeldStream, MAX_HELD_MS, outcomeOfHeld } from './held-stream.ts';
import type { ReadOn } from './read-on.ts';
import { RelayInterruptions } from './relay-interruptions.ts';
import { type Contact, RelayProgress } from './relay-progress.ts';
import { keptBytes } from './relay-state.ts';
import {
  type AttemptLimits,
  type DispatchContext,
  type DispatchDependencies,
  sendRequest,
} from './send-request.ts';
import { StreamSender } from './stream-sender.ts';
import {
  asEvents,
  brokenAnswer,
  CUT_SHORT,
  errorWithin,
  type Head,
  isPassedOn,
  isProviderError,
  MAX_ANSWER_BYTES,
  readWholeAnswer,
} from './whole-answer.ts';

// The request goes to the provider, and its answer comes back in one of two ways (relay-state.ts):
//
//   waiting → streaming → settled                A stream is passed on as it comes, its end kept back.
//   waiting → collecting → inspecting → settled  Anything else is read whole first, so that a provider that fails
//                                                half-way becomes a clean error and not half an answer. Events under
//                                                another content type are a stream all the same.
//
// Where another attempt may follow, a stream goes through `holding` first: it is kept back until its first content.
//
// The first of these settles it: the answer's end, the provider's failure, the route's time limit, the caller's leaving,
// the gateway's stopping. A whole answer that has come is delivered.
//
// Where the provider is at work on an answer that the caller will not get, because it left or because there is no
// memory for it, the relay goes through `reading_on`: the rest is read for its usage, which the caller pays for.

/** How long a provider that keeps its connection open is listened to after its end mark, where it has not said its usage. */
export const MAX_LATE_USAGE_MS = 250;

/** One request to a provider, and its answer on the way back. */
export class Relay implements UpstreamListener {
  readonly #context: DispatchContext;
  readonly #outgoing: Outgoing;
  readonly #kind: AnswerKind;
  readonly #exchange: Exchange;
  readonly #limits: AttemptLimits;
  readonly #dependencies: DispatchDependencies;
  readonly #redaction: Redaction | undefined;
  readonly #flow: Flow;
  readonly #sender: StreamSender;
  readonly #progress: RelayProgress;
  readonly #interruptions: RelayInterruptions;

  constructor(
    context: DispatchContext,
    exchange: Exchange,
    dependencies: DispatchDependencies,
    limits: AttemptLimits,
  ) {
    this.#context = context;
    this.#outgoing = context.sent.outgoing;
    this.#kind = this.#outgoing.passesWhole ? 'vectors' : 'events';
    this.#limits = limits;
    this.#exchange = exchange;
    this.#dependencies = dependencies;
    this.#redaction = redactionOf(context.sent.candidate.apiKey);
    this.#flow = new Flow({
      exchange,
      owner: context.key.organizationId,
      dependencies,
      keptBytes: () => keptBytes(this.#progress.state),
      onNoRoom: () => this.#interruptions.onNoRoom(),
    });
    this.#sender = new StreamSender(exchange, this.#flow, dependencies);
    this.#progress = new RelayProgress(exchange, this.#flow, this.#sender);
    this.#interruptions = new RelayInterruptions(context, exchange, dependencies, this.#progress, this.#flow);
  }

  /** The contact with the provider so far. */
  get contact(): Contact {
    return this.#progress;
  }

  /** Resolves with how it ended. Of a stream, everything but its end has then been sent. */
  async run(): Promise<Outcome> {
    const { timers } = this.#dependencies;
    const { timeoutMs, contentTimeoutMs } = this.#limits;
    const { route } = this.#context;
    this.#exchange.onStop = (reason) => this.#interruptions.onStop(reason);
    this.#progress.cancelTimer = timers.after(timeoutMs, () =>
      this.#interruptions.endEarly(upstreamTimedOut(route.timeoutMs), 'timed out'),
    );
    if (contentTimeoutMs !== undefined) {
      this.#progress.cancelContentTimer = timers.after(contentTimeoutMs, () =>
        this.#interruptions.endEarly(upstreamTimedOut(contentTimeoutMs), 'timed out'),
      );
    }
    try {
      this.#flow.of(sendRequest(this.#context, this.#limits, this));
      return await this.#progress.outcome;
    } catch (error) {
      this.#progress.fail(error);
      throw error;
    }
  }

  /** The answer is not sent after all: another attempt takes its place. */
  discard(): void {
    this.#flow.discard();
  }

  onStart(): void {
    this.#progress.wasStarted = true;
  }

  onHead(status: number, headers: UpstreamHeaders): void {
    const { state } = this.#progress;
    if (state.name !== 'waiting' && state.name !== 'reading_on') return;
    this.#exchange.upstreamStatus = status;
    try {
      const head = { status, headers };
      this.#progress.head = head;
      const isStream = isPassedOn(head, this.#outgoing);
      const unusable = unusableHead(status, headers);
      if (state.name === 'reading_on') {
        state.readOn.begin(head, isStream);
        if (isProviderError(head)) this.#interruptions.endReadOn(state.readOn);
      } else if (unusable !== undefined) {
        this.#progress.refuse(brokenAnswer(unusable));
      } else if (isStream) {
        this.#openStream(head);
      } else {
        const answer = new CollectedAnswer(this.#outgoing.isStream && status < 300);
        this.#progress.enter({ name: 'collecting', head, answer });
      }
    } catch (error) {
      this.#progress.fail(error);
    }
  }

  onData(chunk: Buffer): void {
    const { state } = this.#progress;
    try {
      switch (state.name) {
        case 'streaming':
          this.#flow.count(chunk.length, this.#kind);
          this.#passOn(state.reading, state.reading.push(chunk));
          break;
        case 'holding':
          this.#flow.count(chunk.length, 'events');
          state.held.push(chunk);
          this.#judgeHeld(state.held);
          break;
        case 'collecting':
          this.#flow.count(chunk.length, 'whole');
          this.#collect(state.head, state.answer, chunk);
          break;
        case 'reading_on':
          this.#readOn(state.readOn, chunk);
      }
    } catch (error) {
      this.#onError(error);
    }
  }

  onEnd(): void {
    this.#flow.onUpstreamFinished();
    const { state } = this.#progress;
    try {
      if (state.name === 'streaming') {
        this.#endStream(state.reading);
      } else if (state.name === 'holding') {
        this.#endHeld(state.held);
      } else if (state.name === 'collecting') {
        this.#inspect(state.head, state.answer.blocks);
      } else if (state.name === 'reading_on') {
        state.readOn.end(() => this.#interruptions.endReadOn(state.readOn));
      }
    } catch (error) {
      this.#onError(error);
    }
  }

  onFailure(error: Error): void {
    // What it sends too much of it goes on sending.
    if (!(error instanceof EventTooLarge)) this.#flow.onUpstreamFinished();
    this.#interruptions.onFailure(error);
  }

  #onError(error: unknown): void {
    if (error instanceof EventTooLarge) this.onFailure(error);
    else this.#progress.fail(error);
  }

  #openStream(head: Head): void {
    const reading = this.#outgoing.openStream();
    if (this.#outgoing.passesWhole || this.#limits.canBeFollowed) this.#hold(new HeldStream(head, reading));
    else this.#beginStream(head, reading);
  }

  #hold(held: HeldStream): void {
    const { head } = held;
    this.#progress.enter({ name: 'holding', head, held });
    if (this.#limits.contentTimeoutMs !== undefined) return;
    const show = () => this.#showHeld(held);
    this.#progress.cancelContentTimer = this.#dependencies.timers.after(MAX_HELD_MS, show);
  }

  /** True if what was kept back goes on to the caller, or is a failure. */
  #judgeHeld(held: HeldStream): void {
    if (held.isOver) this.#endHeld(held);
    else if (held.isReady) this.#showHeld(held);
    else this.#flow.update();
  }

  #showHeld(held: HeldStream): void {
    this.#beginStream(held.head, held.reading);
    this.#passOn(held.reading, held.take());
  }

  /** A stream that ends without content: an error, nothing at all, or an empty answer. */
  #endHeld(held: HeldStream): void {
    held.end();
    this.#progress.settle(outcomeOfHeld(held, this.#outgoing, this.#redaction));
  }

  #beginStream(head: Head, reading: CallersStream): void {
    this.#progress.enter({ name: 'streaming', head, reading });
    this.#sender.begin(head, reading, this.#outgoing, this.#context);
  }

  #passOn(reading: CallersStream, bytes: Buffer): void {
    this.#sender.pass(reading, bytes);
    if (reading.hasContent) this.#limits.onContent();
    if (!reading.isDone) return;
    const end = () => this.#endStream(reading);
    if (reading.usage !== undefined || !reading.isComplete) end();
    else this.#progress.cancelUsageTimer ??= this.#dependencies.timers.after(MAX_LATE_USAGE_MS, end);
  }

  #endStream(reading: StreamReading): void {
    const tail = reading.end();
    if (!reading.isComplete) {
      this.#interruptions.endStreamEarly('upstream_stream_aborted', brokenAnswer(CUT_SHORT), CUT_SHORT);
      return;
    }
    const { statusCode: status } = this.#exchange.response;
    const upstreamError = errorWithin(reading, this.#redaction);
    this.#progress.settle({ kind: 'streamed', status, reading, upstreamError, tail });
  }

  #collect(head: Head, answer: CollectedAnswer, chunk: Buffer): void {
    answer.append(chunk);
    const { length } = answer.blocks;
    if (answer.areEvents) {
      this.#progress.head = asEvents(head);
      this.#openStream(asEvents(head));
      this.onData(answer.take());
      return;
    }
    if (length > SMALL_BODY_BYTES) freeMemorySoon(chunk);
    if (length <= MAX_ANSWER_BYTES) this.#flow.update();
    else this.#interruptions.beginReadOn(brokenAnswer(`answered with more than ${MAX_ANSWER_BYTES} bytes`));
  }

  #readOn(readOn: ReadOn, chunk: Buffer): void {
    this.#flow.count(chunk.length, readOn.stream ? this.#kind : 'whole');
    const wantsMore = readOn.push(chunk);
    if (!readOn.stream) freeMemorySoon(chunk);
    if (wantsMore) this.#flow.update();
    else this.#interruptions.endReadOn(readOn);
  }

  #inspect(head: Head, blocks: ByteBlocks): void {
    this.#progress.enter({ name: 'inspecting', head, heldBytes: blocks.length });
    readWholeAnswer(head, blocks, this.#context, this.#exchange.id, this.#dependencies).then(
      (outcome) => this.#progress.settle(outcome),
      (error: unknown) => this.#progress.fail(error),
    );
  }
}
