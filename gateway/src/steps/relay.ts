import type { Route } from '../catalogue/queries.ts';
import { beginStream } from '../http/answers.ts';
import { type Refusal, serviceUnavailable, upstreamFailed, upstreamTimedOut } from '../http/refusal.ts';
import { CALLER_GONE_STATUS, type Cut, type Ending } from '../pipeline/ending.ts';
import type { Exchange, StopReason } from '../pipeline/exchange.ts';
import type { Parts } from '../pipeline/parts.ts';
import type { AnswerReading, Call, Protocol, StreamReading } from '../protocols/protocol.ts';
import { type Redaction, redactionOf } from '../protocols/redaction.ts';
import { EventTooLarge } from '../protocols/sse.ts';
import { describeFailure } from '../upstreams/failures.ts';
import { headersFor, isEventStream, passedHeaders, unusableHead } from '../upstreams/headers.ts';
import type { UpstreamHeaders, UpstreamListener } from '../upstreams/upstream.ts';
import { CollectedBody, LARGEST_ANSWER_BYTES } from './collected-body.ts';
import type { Destination } from './find-upstream.ts';
import { Flow } from './flow.ts';
import { ReadOn } from './read-on.ts';
import { mostPromptTokens } from './usage-bounds.ts';
import {
  brokenAnswer,
  errorWithin,
  type Head,
  isProviderError,
  NO_ROOM,
  wholeAnswer,
} from './whole-answer.ts';

// The request goes to the provider, and its answer comes back in one of two ways. A stream is passed on while it
// comes, at the pace of the caller, with its end mark kept back. Anything else is read whole first, so that a
// provider that breaks off half-way becomes a clean error and not half an answer.
//
// Five things can end it: the answer's end, the provider's failure, the route's time, the caller's leaving and
// the gateway's stopping. Whichever comes first decides; what the others would have said is not heard any more.
//
// One thing goes on after its end: where the provider is at work on an answer that the caller will not get, because it
// left or because there is no room for it, the rest is read for the usage in it. The caller has cost that much.

export interface Dispatch {
  readonly exchange: Exchange;
  readonly protocol: Protocol;
  readonly call: Call;
  readonly route: Route;
  readonly destination: Destination;
  readonly outputCap: number;
}

export type DispatchParts = Pick<Parts, 'clock' | 'timers' | 'bodies' | 'readOns'>;

/** One request to a provider, and its answer on the way back. */
export class Relay implements UpstreamListener {
  readonly #work: Dispatch;
  readonly #parts: DispatchParts;
  readonly #owner: string;
  readonly #redaction: Redaction | undefined;
  readonly #flow: Flow;
  readonly #ending = Promise.withResolvers<Ending>();
  #isSettled = false;
  #cancelTimer: () => void = () => {};
  #wasStarted = false;
  #head: Head | undefined;
  readonly #collected = new CollectedBody();
  #reading: StreamReading | undefined;
  #readOn: ReadOn | undefined;
  /** The tokens that had come when the caller left. */
  #receivedTokens: Promise<number> | undefined;

  constructor(work: Dispatch, parts: DispatchParts) {
    this.#work = work;
    this.#parts = parts;
    this.#owner = work.exchange.key?.organizationId ?? '';
    this.#redaction = redactionOf(work.destination.apiKey);
    this.#flow = new Flow({
      exchange: work.exchange,
      parts,
      keptBytes: () => this.#collected.bytes + (this.#reading?.keptBytes ?? 0),
      onNoRoom: () => this.#onNoRoom(),
    });
  }

  run(): Promise<Ending> {
    const { exchange, protocol, call, route, destination, outputCap } = this.#work;
    exchange.onStop = (reason) => this.#onStop(reason);
    this.#cancelTimer = this.#parts.timers.after(route.timeoutMs, () =>
      this.#breakOff(upstreamTimedOut(route.timeoutMs), 'timed out'),
    );
    try {
      const body = call.upstreamBody(route.upstreamModel, outputCap, route.provider.outputLimit);
      exchange.heldBody?.resize(body.length);
      exchange.mostPromptTokens = mostPromptTokens(route, call, body.length);
      const upstreamCall = destination.upstream.send(
        {
          path: protocol.upstreamPath,
          headers: headersFor(call.isStream, destination.apiKey),
          body,
          timeoutMs: route.timeoutMs,
          onBodySent: () => exchange.heldBody?.release(),
        },
        this,
      );
      this.#flow.of(upstreamCall);
    } catch (error) {
      this.#fail(error);
    }
    return this.#ending.promise;
  }

  onStart(): void {
    this.#wasStarted = true;
  }

  onHead(status: number, headers: UpstreamHeaders): void {
    if (this.#isSettled) return;
    this.#head = { status, headers };
    const { exchange, call } = this.#work;
    try {
      const unusable = unusableHead(status, headers);
      if (this.#readOn && isProviderError(this.#head)) this.#endReadOn();
      else if (unusable !== undefined) this.#refuse(brokenAnswer(unusable));
      else if (call.isStream && status < 300 && isEventStream(headers)) {
        this.#reading = call.openStream(this.#redaction);
        if (!this.#readOn) beginStream(exchange, status, passedHeaders(headers, this.#redaction));
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  onData(chunk: Buffer): void {
    if (this.#isSettled) return;
    try {
      const isReadOnOver = this.#readOn?.push(chunk, this.#reading) === false;
      if (isReadOnOver) this.#endReadOn();
      else if (this.#readOn) this.#flow.update();
      else if (this.#reading) this.#passOn(this.#reading, chunk);
      else this.#collect(chunk);
    } catch (error) {
      this.#onError(error);
    }
  }

  onEnd(): void {
    this.#flow.onUpstreamFinished();
    if (this.#isSettled) return;
    try {
      // A last event may lack its blank line.
      if (this.#readOn) this.#reading?.end();
      if (this.#readOn) this.#endReadOn();
      else if (this.#reading) this.#endStream(this.#reading);
      else if (this.#head)
        this.#settle(wholeAnswer(this.#head, this.#collected.take(), this.#work.call, this.#redaction));
    } catch (error) {
      this.#onError(error);
    }
  }

  onFailure(error: Error): void {
    // What it sends too much of it goes on sending.
    if (!(error instanceof EventTooLarge)) this.#flow.onUpstreamFinished();
    if (this.#isSettled) return;
    const reason = describeFailure(error);
    if (this.#readOn) this.#endReadOn();
    else if (this.#reading) this.#cut('upstream_stream_aborted', reason);
    else if (this.#head) this.#refuse(brokenAnswer(reason));
    else this.#refuse(upstreamFailed('The provider could not be reached.', reason));
  }

  #onError(error: unknown): void {
    if (error instanceof EventTooLarge) this.onFailure(error);
    else this.#fail(error);
  }

  #passOn(reading: StreamReading, chunk: Buffer): void {
    const { response } = this.#work.exchange;
    const bytes = reading.push(chunk);
    if (reading.hasContent) this.#work.exchange.firstTokenAtMs ??= this.#parts.clock.monotonic();
    if (bytes.length > 0 && !response.write(bytes)) this.#flow.waitForCaller();
    this.#flow.update();
    if (reading.isDone) this.#endStream(reading);
  }

  #endStream(reading: StreamReading): void {
    const tail = reading.end();
    if (reading.isComplete) {
      this.#settle({
        kind: 'streamed',
        status: this.#work.exchange.response.statusCode,
        reading,
        upstreamError: errorWithin(reading, this.#redaction),
        tail,
      });
    } else {
      this.#cut('upstream_stream_aborted', 'the stream ended before the answer did');
    }
  }

  #collect(chunk: Buffer): void {
    this.#collected.add(chunk);
    if (this.#collected.bytes <= LARGEST_ANSWER_BYTES) this.#flow.update();
    else this.#beginReadOn(brokenAnswer(`answered with more than ${LARGEST_ANSWER_BYTES} bytes`));
  }

  #onStop(reason: StopReason): void {
    if (reason === 'caller_gone') this.#onCallerGone();
    else this.#breakOff(serviceUnavailable('proxy_guillotine'), 'the gateway was stopped');
  }

  /** Ends it before its time, with the refusal as the last event of a stream. */
  #breakOff(refusal: Refusal, reason: string): void {
    if (this.#readOn) this.#endReadOn();
    else if (!this.#reading) this.#refuse(refusal);
    else this.#cut('proxy_guillotine', reason, this.#work.protocol.streamError(refusal));
  }

  #onCallerGone(): void {
    // Its answer may be read on already, for it would not have got it.
    if (this.#readOn) return;
    const reading = this.#reading;
    this.#receivedTokens = reading?.generated.countTokens();
    const isKnown = reading?.isComplete === true && reading.isUsageFinal;
    if (!this.#wasStarted || isProviderError(this.#head) || isKnown) this.#cut('client_disconnect', null);
    else if (!this.#parts.readOns.take(this.#owner)) this.#cut('client_disconnect', null);
    else this.#beginReadOn();
  }

  #onNoRoom(): void {
    const refusal = serviceUnavailable('proxy_guillotine', NO_ROOM);
    if (this.#readOn || this.#reading) this.#breakOff(refusal, NO_ROOM);
    else this.#beginReadOn(refusal);
  }

  /** The caller gets the refusal, or has left, but the provider is at work on an answer. */
  #beginReadOn(refusal?: Refusal): void {
    if (refusal && isProviderError(this.#head)) {
      this.#refuse(refusal);
      return;
    }
    this.#readOn = new ReadOn({
      call: this.#work.call,
      timers: this.#parts.timers,
      collected: this.#collected.takeBlocks(),
      refusal,
      onTimeIsUp: () => this.#endReadOn(),
      onClose: () => {
        if (!refusal) this.#parts.readOns.give(this.#owner);
      },
    });
    this.#flow.open();
    this.#flow.update();
  }

  #endReadOn(): void {
    const refusal = this.#readOn?.refusal;
    if (refusal) this.#refuse(refusal, this.#readOn?.reading(this.#reading));
    else this.#cut('client_disconnect', null);
  }

  #refuse(refusal: Refusal, reading?: AnswerReading): void {
    this.#settle({ kind: 'refused', refusal, reading });
  }

  #cut(termination: Cut['termination'], upstreamError: string | null, farewell?: Buffer): void {
    const { response } = this.#work.exchange;
    this.#settle({
      kind: 'cut',
      status: response.headersSent ? response.statusCode : CALLER_GONE_STATUS,
      termination,
      upstreamError,
      reading: this.#readOn?.reading(this.#reading) ?? this.#reading,
      isStream: this.#reading !== undefined,
      isComplete: this.#reading?.isComplete ?? true,
      hasWork: this.#wasStarted && !isProviderError(this.#head),
      receivedTokens: this.#receivedTokens,
      farewell,
    });
  }

  #settle(ending: Ending): void {
    if (this.#isSettled) return;
    this.#release();
    const { writableLength } = this.#work.exchange.response;
    const keptBytes = ending.kind === 'answered' ? ending.body.length : writableLength;
    this.#flow.end(keptBytes, ending.kind === 'streamed' || this.#reading?.isDone === true);
    this.#ending.resolve(ending);
  }

  /** A mistake of our own: not an ending but an error, for the edge to log. */
  #fail(error: unknown): void {
    if (this.#isSettled) return;
    this.#release();
    this.#flow.end(0, false);
    this.#ending.reject(error);
  }

  #release(): void {
    this.#isSettled = true;
    this.#cancelTimer();
    this.#readOn?.close();
    this.#work.exchange.onStop = undefined;
  }
}
