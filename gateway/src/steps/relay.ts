import { ByteBlocks } from '../bodies/byte-blocks.ts';
import { type GatewayError, serviceUnavailable } from '../http/gateway-error.ts';
import { upstreamFailed, upstreamTimedOut } from '../http/upstream-errors.ts';
import type { Context } from '../pipeline/context.ts';
import type { Exchange, StopReason } from '../pipeline/exchange.ts';
import { type Aborted, CALLER_GONE_STATUS } from '../pipeline/outcome.ts';
import type { AnswerReading, CountTokens, StreamReading } from '../protocols/protocol.ts';
import { type Redaction, redactionOf } from '../protocols/redaction.ts';
import { EventTooLarge } from '../protocols/sse.ts';
import { describeFailure } from '../upstreams/failures.ts';
import { unusableHead } from '../upstreams/headers.ts';
import type { UpstreamHeaders, UpstreamListener } from '../upstreams/upstream.ts';
import { Flow } from './flow.ts';
import { ReadOn } from './read-on.ts';
import { RelayProgress } from './relay-progress.ts';
import { hasMoreToSay, headOf, keptBytes, readingOf, readingSoFar } from './relay-state.ts';
import { type DispatchContext, type DispatchDependencies, sendRequest } from './send-request.ts';
import { StreamSender } from './stream-sender.ts';
import {
  brokenAnswer,
  errorWithin,
  type Head,
  isPassedOn,
  isProviderError,
  LARGEST_ANSWER_BYTES,
  NO_ROOM,
  readWholeAnswer,
} from './whole-answer.ts';

// The request goes to the provider, and its answer comes back in one of two ways (relay-state.ts):
//
//   waiting → streaming → settled                A stream is passed on as it comes, its end kept back.
//   waiting → collecting → inspecting → settled  Anything else is read whole first, so that a provider that fails
//                                                half-way becomes a clean error and not half an answer.
//
// The first of these settles it: the answer's end, the provider's failure, the route's time limit, the caller's leaving,
// the gateway's stopping. A whole answer that has come is delivered.
//
// Where the provider is at work on an answer that the caller will not get, because it left or because there is no
// memory for it, the relay goes through `reading_on`: the rest is read for its usage, which the caller pays for.

/** One request to a provider, and its answer on the way back. */
export class Relay implements UpstreamListener {
  readonly #context: DispatchContext;
  readonly #exchange: Exchange;
  readonly #dependencies: DispatchDependencies;
  readonly #owner: string;
  readonly #redaction: Redaction | undefined;
  readonly #countTokens: CountTokens;
  readonly #flow: Flow;
  readonly #sender: StreamSender;
  readonly #progress: RelayProgress;
  /** Whether the provider may have seen the request. */
  #wasStarted = false;
  /** The tokens that had come when the caller left. */
  #receivedTokens: Promise<number> | undefined;

  constructor(context: DispatchContext, exchange: Exchange, dependencies: DispatchDependencies) {
    this.#context = context;
    this.#exchange = exchange;
    this.#dependencies = dependencies;
    this.#owner = context.key.organizationId;
    this.#redaction = redactionOf(context.apiKey);
    this.#countTokens = (texts) => dependencies.readers.countTokens(this.#owner, texts);
    this.#flow = new Flow({
      exchange,
      owner: this.#owner,
      dependencies,
      keptBytes: () => keptBytes(this.#progress.state),
      onNoRoom: () => this.#onNoRoom(),
    });
    this.#sender = new StreamSender(exchange, this.#flow, dependencies);
    this.#progress = new RelayProgress(exchange, this.#flow, this.#sender);
  }

  async run(): Promise<Pick<Context, 'outcome'>> {
    const { route } = this.#context;
    this.#exchange.onStop = (reason) => this.#onStop(reason);
    this.#progress.cancelTimer = this.#dependencies.timers.after(route.timeoutMs, () =>
      this.#endEarly(upstreamTimedOut(route.timeoutMs), 'timed out'),
    );
    try {
      this.#flow.of(sendRequest(this.#context, this));
      return { outcome: await this.#progress.outcome };
    } catch (error) {
      this.#progress.fail(error);
      throw error;
    }
  }

  onStart(): void {
    this.#wasStarted = true;
  }

  onHead(status: number, headers: UpstreamHeaders): void {
    const { state } = this.#progress;
    if (state.name !== 'waiting' && state.name !== 'reading_on') return;
    try {
      const { outgoing } = this.#context;
      const head = { status, headers };
      const isStream = isPassedOn(head, outgoing);
      const unusable = unusableHead(status, headers);
      if (state.name === 'reading_on') {
        state.readOn.begin(head, isStream);
        if (isProviderError(head)) this.#endReadOn(state.readOn);
      } else if (unusable !== undefined) {
        this.#refuse(brokenAnswer(unusable));
      } else if (isStream) {
        const reading = outgoing.openStream();
        this.#progress.enter({ name: 'streaming', head, reading });
        this.#sender.begin(head, reading, outgoing, this.#context);
      } else {
        this.#progress.enter({
          name: 'collecting',
          head,
          blocks: new ByteBlocks(undefined, Number.MAX_SAFE_INTEGER),
        });
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
          this.#flow.count(chunk.length, !this.#context.outgoing.passesWhole);
          this.#passOn(state.reading, chunk);
          break;
        case 'collecting':
          this.#flow.count(chunk.length, false);
          this.#collect(state.blocks, chunk);
          break;
        case 'reading_on':
          this.#flow.count(chunk.length, state.readOn.stream !== undefined);
          if (state.readOn.push(chunk)) this.#flow.update();
          else this.#endReadOn(state.readOn);
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
      } else if (state.name === 'collecting') {
        this.#inspect(state.head, state.blocks);
      } else if (state.name === 'reading_on') {
        state.readOn.end();
        this.#endReadOn(state.readOn);
      }
    } catch (error) {
      this.#onError(error);
    }
  }

  onFailure(error: Error): void {
    // What it sends too much of it goes on sending.
    if (!(error instanceof EventTooLarge)) this.#flow.onUpstreamFinished();
    const reason = describeFailure(error);
    const { state } = this.#progress;
    if (state.name === 'waiting') {
      this.#refuse(upstreamFailed('The provider could not be reached.', reason));
    } else if (state.name === 'collecting') {
      this.#refuse(brokenAnswer(reason));
    } else if (state.name === 'streaming') {
      this.#endStreamEarly('upstream_stream_aborted', brokenAnswer(reason), reason);
    } else if (state.name === 'reading_on') {
      this.#endReadOn(state.readOn);
    }
  }

  #onError(error: unknown): void {
    if (error instanceof EventTooLarge) this.onFailure(error);
    else this.#progress.fail(error);
  }

  #passOn(reading: StreamReading, chunk: Buffer): void {
    this.#sender.pass(reading, chunk);
    if (reading.isDone) this.#endStream(reading);
  }

  #endStream(reading: StreamReading): void {
    const tail = reading.end();
    if (!reading.isComplete) {
      const reason = 'the stream ended before the answer did';
      this.#endStreamEarly('upstream_stream_aborted', brokenAnswer(reason), reason);
      return;
    }
    const { statusCode: status } = this.#exchange.response;
    const upstreamError = errorWithin(reading, this.#redaction);
    this.#progress.settle({ kind: 'streamed', status, reading, upstreamError, tail });
  }

  #collect(blocks: ByteBlocks, chunk: Buffer): void {
    blocks.append(chunk);
    if (blocks.length <= LARGEST_ANSWER_BYTES) this.#flow.update();
    else this.#beginReadOn(brokenAnswer(`answered with more than ${LARGEST_ANSWER_BYTES} bytes`));
  }

  #inspect(head: Head, blocks: ByteBlocks): void {
    this.#progress.enter({ name: 'inspecting', head, heldBytes: blocks.length });
    readWholeAnswer(head, blocks, this.#context, this.#exchange.id, this.#dependencies).then(
      (outcome) => this.#progress.settle(outcome),
      (error: unknown) => this.#progress.fail(error),
    );
  }

  #onStop(reason: StopReason): void {
    if (reason === 'caller_gone') this.#onCallerGone();
    else this.#endEarly(serviceUnavailable('proxy_guillotine'), 'the gateway was stopped');
  }

  /** Settles it before the answer's end, with the error as the last event of a stream. */
  #endEarly(error: GatewayError, reason: string): void {
    const { state } = this.#progress;
    if (state.name === 'reading_on') this.#endReadOn(state.readOn);
    else if (state.name === 'streaming') this.#endStreamEarly('proxy_guillotine', error, reason);
    else if (state.name !== 'inspecting') this.#refuse(error);
  }

  /** The error is the last event, so that no client takes it for a broken connection. */
  #endStreamEarly(termination: Aborted['termination'], error: GatewayError, reason: string): void {
    this.#abort(termination, reason, this.#context.outgoing.streamError(error, this.#exchange.id));
  }

  #onCallerGone(): void {
    const { state } = this.#progress;
    if (state.name === 'reading_on' || state.name === 'inspecting') return;
    this.#receivedTokens = readingOf(state)?.countGenerated(this.#countTokens);
    // A count of tokens has no usage to learn.
    const isBilled = this.#context.outgoing.surface !== 'count_tokens';
    const isWanted = isBilled && this.#wasStarted && hasMoreToSay(state);
    if (!isWanted || !this.#dependencies.readOns.take(this.#owner)) this.#abort('client_disconnect', null);
    else this.#beginReadOn();
  }

  #onNoRoom(): void {
    const error = serviceUnavailable('proxy_guillotine', NO_ROOM);
    const { name } = this.#progress.state;
    if (name === 'reading_on' || name === 'streaming') this.#endEarly(error, NO_ROOM);
    else if (name !== 'inspecting' && name !== 'settled') this.#beginReadOn(error);
  }

  /** The caller gets the error, or has left, but the provider is at work on an answer. */
  #beginReadOn(error?: GatewayError): void {
    const { state } = this.#progress;
    const head = headOf(state);
    if (error && isProviderError(head)) {
      this.#refuse(error);
      return;
    }
    const readOn = new ReadOn({
      outgoing: this.#context.outgoing,
      timers: this.#dependencies.timers,
      collected: state.name === 'collecting' ? state.blocks.take() : [],
      head,
      stream: readingOf(state),
      error,
      onTimeIsUp: () => this.#endReadOn(readOn),
      onClose: () => {
        if (!error) this.#dependencies.readOns.give(this.#owner);
      },
    });
    this.#progress.enter({ name: 'reading_on', readOn });
    this.#flow.open();
    this.#flow.update();
  }

  #endReadOn({ error, reading }: ReadOn): void {
    if (error) this.#refuse(error, reading);
    else this.#abort('client_disconnect', null);
  }

  #refuse(error: GatewayError, reading?: AnswerReading): void {
    this.#progress.settle({ kind: 'refused', error, reading });
  }

  #abort(termination: Aborted['termination'], upstreamError: string | null, finalEvent?: Buffer): void {
    const { response } = this.#exchange;
    this.#progress.settle({
      kind: 'aborted',
      status: response.headersSent ? response.statusCode : CALLER_GONE_STATUS,
      termination,
      upstreamError,
      ...readingSoFar(this.#progress.state),
      hasWork: this.#wasStarted && !isProviderError(headOf(this.#progress.state)),
      receivedTokens: this.#receivedTokens,
      finalEvent,
    });
  }
}
