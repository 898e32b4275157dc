import { beginStream } from '../answers.ts';
import type { Clock, Timers } from '../clock.ts';
import { CALLER_GONE_STATUS, type Ending } from '../ending.ts';
import type { Exchange, StopReason } from '../exchange.ts';
import type { AnswerReading, Call, Protocol, StreamReading } from '../protocols/protocol.ts';
import { EventTooLarge } from '../protocols/sse.ts';
import type { Route } from '../queries.ts';
import { serviceUnavailable, upstreamFailed, upstreamTimedOut } from '../refusal.ts';
import { bodyWithoutSecret, describeFailure, errorOfAnswer, errorToKeep } from '../upstreams/failures.ts';
import { headersFor, isEventStream, passedHeaders, unusableHead } from '../upstreams/headers.ts';
import type { UpstreamCall, UpstreamHeaders, UpstreamListener } from '../upstreams/upstream.ts';
import type { Destination } from './find-upstream.ts';

// The request goes to the provider, and its answer comes back in one of two ways. A stream is passed on while it
// comes, at the pace of the caller, with its end mark kept back. Anything else is read whole first, so that a
// provider that breaks off half-way becomes a clean error and not half an answer.
//
// Five things can end it: the answer's end, the provider's failure, the route's time, the caller's leaving and
// the gateway's stopping. Whichever comes first decides; what the others would have said is not heard any more.

const LARGEST_ANSWER_BYTES = 64 * 1024 * 1024;
// How long a provider may take to end a stream whose end mark it has sent.
const LINGER_MS = 1_000;

export interface Dispatch {
  readonly exchange: Exchange;
  readonly protocol: Protocol;
  readonly call: Call;
  readonly route: Route;
  readonly destination: Destination;
  readonly outputCap: number;
}

/** Sends the request and resolves with how it ended. Of a stream, everything but its end has then been sent. */
export function dispatch(work: Dispatch, parts: { clock: Clock; timers: Timers }): Promise<Ending> {
  const { exchange } = work;
  exchange.throwIfStopped();
  const relay = new Relay(work, parts.clock, parts.timers);
  exchange.dispatchedAtMs = parts.clock.monotonic();
  return relay.run();
}

class Relay implements UpstreamListener {
  readonly #work: Dispatch;
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #ending = Promise.withResolvers<Ending>();
  #isSettled = false;
  #upstreamCall: UpstreamCall | undefined;
  #isUpstreamFinished = false;
  #cancelTimer: () => void = () => {};
  #wasStarted = false;
  #isWaiting = false;
  #head: { status: number; headers: UpstreamHeaders } | undefined;
  #reading: StreamReading | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(work: Dispatch, clock: Clock, timers: Timers) {
    this.#work = work;
    this.#clock = clock;
    this.#timers = timers;
  }

  run(): Promise<Ending> {
    const { exchange, protocol, call, route, destination, outputCap } = this.#work;
    exchange.onStop = (reason) => this.#onStop(reason);
    this.#cancelTimer = this.#timers.after(route.timeoutMs, () => this.#onTimeout());
    try {
      const body = call.upstreamBody(route.upstreamModel, outputCap, route.provider.outputLimit);
      // The caller's own bytes are gone.
      exchange.heldBody?.resize(body.length);
      this.#upstreamCall = destination.upstream.send(
        {
          path: protocol.upstreamPath,
          headers: headersFor(call.isStream, destination.apiKey),
          body,
          timeoutMs: route.timeoutMs,
          onBodySent: () => exchange.heldBody?.release(),
        },
        this,
      );
    } catch (error) {
      this.#fail(error);
    }
    // It may have ended before there was anything to abort.
    if (this.#isSettled) this.#upstreamCall?.abort();
    return this.#ending.promise;
  }

  onStart(): void {
    this.#wasStarted = true;
  }

  onHead(status: number, headers: UpstreamHeaders): void {
    if (this.#isSettled) return;
    this.#wasStarted = true;
    const unusable = unusableHead(status, headers);
    if (unusable !== undefined) {
      this.#onBrokenAnswer(unusable);
      return;
    }
    this.#head = { status, headers };
    const { exchange, call } = this.#work;
    if (!call.isStream || status >= 300 || !isEventStream(headers)) return;
    try {
      this.#reading = call.openStream();
      beginStream(exchange, status, String(headers['content-type']));
    } catch (error) {
      this.#fail(error);
    }
  }

  onData(chunk: Buffer): void {
    if (this.#isSettled) return;
    try {
      if (this.#reading) this.#passOn(this.#reading, chunk);
      else this.#collect(chunk);
    } catch (error) {
      if (error instanceof EventTooLarge) this.onFailure(error);
      else this.#fail(error);
    }
  }

  onEnd(): void {
    this.#onUpstreamFinished();
    if (this.#isSettled) return;
    try {
      if (this.#reading) this.#endStream(this.#reading);
      else this.#endWhole();
    } catch (error) {
      this.#fail(error);
    }
  }

  onFailure(error: Error): void {
    this.#onUpstreamFinished();
    if (this.#isSettled) return;
    const reason = describeFailure(error);
    if (this.#reading) this.#cut('upstream_stream_aborted', reason);
    else if (this.#head) this.#onBrokenAnswer(reason);
    else {
      const message = 'The provider could not be reached.';
      this.#settle({ kind: 'refused', refusal: upstreamFailed(message, reason) });
    }
  }

  #passOn(reading: StreamReading, chunk: Buffer): void {
    const { response } = this.#work.exchange;
    const bytes = reading.push(chunk);
    if (reading.hasContent) this.#work.exchange.firstTokenAtMs ??= this.#clock.monotonic();
    if (bytes.length > 0 && !response.write(bytes)) this.#waitForCaller();
    if (reading.isDone) this.#endStream(reading);
  }

  #waitForCaller(): void {
    this.#upstreamCall?.pause();
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#work.exchange.response.once('drain', () => {
      this.#isWaiting = false;
      this.#upstreamCall?.resume();
    });
  }

  #endStream(reading: StreamReading): void {
    const tail = reading.end();
    if (reading.isComplete) {
      this.#settle({
        kind: 'streamed',
        status: this.#work.exchange.response.statusCode,
        reading,
        upstreamError: this.#errorWithin(reading),
        tail,
      });
    } else {
      this.#cut('upstream_stream_aborted', 'the stream ended before the answer did');
    }
  }

  #collect(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > LARGEST_ANSWER_BYTES) {
      this.#onBrokenAnswer(`answered with more than ${LARGEST_ANSWER_BYTES} bytes`);
    } else {
      this.#chunks.push(chunk);
    }
  }

  #endWhole(): void {
    const { status = 0, headers = {} } = this.#head ?? {};
    const { apiKey } = this.#work.destination;
    const isError = status >= 400;
    const collected = Buffer.concat(this.#chunks);
    const body = isError ? bodyWithoutSecret(collected, apiKey) : collected;
    const reading = isError ? undefined : this.#work.call.readAnswer(body);
    if (!isError && !reading) {
      this.#onBrokenAnswer('answered with something that is no completion');
      return;
    }
    this.#settle({
      kind: 'answered',
      status,
      headers: passedHeaders(headers),
      body,
      reading,
      upstreamError: isError ? errorOfAnswer(body, apiKey) : this.#errorWithin(reading),
    });
  }

  /** What an answer that is none says of its own accord, in the form in which it is kept. */
  #errorWithin(reading: AnswerReading | undefined): string | null {
    const said = reading?.upstreamError;
    return typeof said === 'string' ? errorToKeep(said, this.#work.destination.apiKey) : null;
  }

  #onBrokenAnswer(reason: string): void {
    const refusal = upstreamFailed('The provider did not give a usable answer.', reason);
    this.#settle({ kind: 'refused', refusal });
  }

  #onTimeout(): void {
    const { route, protocol } = this.#work;
    const refusal = upstreamTimedOut(route.timeoutMs);
    if (this.#reading) this.#cut('proxy_guillotine', 'timed out', protocol.streamError(refusal));
    else this.#settle({ kind: 'refused', refusal });
  }

  #onStop(reason: StopReason): void {
    const refusal = serviceUnavailable('proxy_guillotine');
    if (reason === 'caller_gone') {
      this.#cut('client_disconnect', null);
    } else if (this.#reading) {
      const farewell = this.#work.protocol.streamError(refusal);
      this.#cut('proxy_guillotine', 'the gateway was stopped', farewell);
    } else {
      this.#settle({ kind: 'refused', refusal });
    }
  }

  #cut(
    termination: 'proxy_guillotine' | 'client_disconnect' | 'upstream_stream_aborted',
    upstreamError: string | null,
    farewell?: Buffer,
  ): void {
    const { response } = this.#work.exchange;
    this.#settle({
      kind: 'cut',
      status: response.headersSent ? response.statusCode : CALLER_GONE_STATUS,
      termination,
      upstreamError,
      reading: this.#reading,
      wasStarted: this.#wasStarted,
      farewell,
    });
  }

  #settle(ending: Ending): void {
    if (this.#isSettled) return;
    this.#release();
    this.#ending.resolve(ending);
    if (this.#isUpstreamFinished) return;
    if (ending.kind === 'streamed') {
      // Its end mark came, so it is about to end, and its connection can then be used again.
      this.#upstreamCall?.resume();
      this.#cancelTimer = this.#timers.after(LINGER_MS, () => this.#upstreamCall?.abort());
    } else {
      this.#upstreamCall?.abort();
    }
  }

  #onUpstreamFinished(): void {
    this.#isUpstreamFinished = true;
    if (this.#isSettled) this.#cancelTimer();
  }

  /** A mistake of our own: not an ending but an error, for the edge to log. */
  #fail(error: unknown): void {
    if (this.#isSettled) return;
    this.#release();
    this.#ending.reject(error);
    this.#upstreamCall?.abort();
  }

  #release(): void {
    this.#isSettled = true;
    this.#cancelTimer();
    this.#work.exchange.onStop = undefined;
  }
}
