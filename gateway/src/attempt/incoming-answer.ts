import { freeMemorySoon } from '@gatehouse/http/free-memory';
import { SMALL_BODY_BYTES } from '../bodies/held-body.ts';
import type { GatewayError } from '../errors/gateway-error.ts';
import { upstreamFailed } from '../errors/upstream-errors.ts';
import type { CallersStream, Outgoing } from '../formats/outgoing.ts';
import type { AnswerReading, StreamReading } from '../formats/protocol.ts';
import { isConnectionError } from '../providers/connector.ts';
import { describeFailure } from '../providers/failures.ts';
import { unusableHead } from '../providers/headers.ts';
import type { UpstreamHeaders } from '../wire/headers.ts';
import type { AttemptEvent } from './attempt-state.ts';
import type { AnswerKind } from './flow.ts';
import { HeldStream } from './held-stream.ts';
import type { ReadOn } from './read-on.ts';
import {
  asEvents,
  brokenAnswer,
  CollectedAnswer,
  CUT_SHORT,
  type Head,
  isPassedOn,
  isProviderError,
  MAX_ANSWER_BYTES,
} from './whole-answer.ts';

/**
 * An answer as far as it has come, in the form in which it is read. It is given what comes from the provider and says which event of
 * attempt-state.ts that is; `error` is then what the caller is told of one that ends the attempt.
 */
export class IncomingAnswer {
  readonly #outgoing: Outgoing;
  readonly #mayBeHeld: boolean;
  /** The provider's, once it has come. */
  head: Head | undefined;
  /** True if no connection could be made. */
  isUnreachable = false;
  error: GatewayError | undefined;
  /** The stream that goes to the caller, its bytes that are to be passed on, and the last, which wait for its record. */
  callersStream: CallersStream | undefined;
  bytes: Buffer | undefined;
  tail: Buffer | undefined;
  /** A part of it that is kept back. */
  held: HeldStream | undefined;
  collected: CollectedAnswer | undefined;
  readOn: ReadOn | undefined;
  /** The bytes that a reader has of it. */
  inspectedBytes = 0;
  /** Bytes that came before it was known to be a stream. */
  #rest: Buffer | undefined;

  /** `mayBeHeld`: whether a stream is kept back until its first content. */
  constructor(outgoing: Outgoing, mayBeHeld: boolean) {
    this.#outgoing = outgoing;
    this.#mayBeHeld = mayBeHeld || outgoing.passesWhole;
  }

  onHead(status: number, headers: UpstreamHeaders): AttemptEvent {
    const head = { status, headers };
    this.head = head;
    const isStream = isPassedOn(head, this.#outgoing);
    this.readOn?.begin(head, isStream);
    const unusable = unusableHead(status, headers);
    if (unusable !== undefined) return this.#fails('unusable_head', brokenAnswer(unusable));
    if (isStream && !this.readOn) return this.#openStream(head);
    this.collected = new CollectedAnswer(this.#outgoing.isStream && status < 300);
    return status >= 400 ? 'error_head' : 'whole_head';
  }

  onData(chunk: Buffer): AttemptEvent {
    if (this.readOn) {
      const wantsMore = this.readOn.push(chunk);
      if (!this.readOn.stream) freeMemorySoon(chunk);
      return wantsMore ? 'part' : 'last';
    }
    if (this.held) {
      this.held.push(chunk);
      if (!this.held.isOver) return this.held.isReady ? 'ready' : 'part';
      this.held.end();
      return 'last';
    }
    if (this.callersStream) return this.#pass(this.callersStream, this.callersStream.push(chunk));
    return this.collected ? this.#collect(this.collected, chunk) : 'part';
  }

  onEnd(): AttemptEvent {
    if (this.readOn || !this.callersStream) return 'end';
    if (!this.held) return this.#endStream('end');
    this.held.end();
    return 'end';
  }

  onFailure(error: Error): AttemptEvent {
    const reason = describeFailure(error);
    if (this.head) return this.#fails('failure', brokenAnswer(reason));
    this.isUnreachable = isConnectionError(error);
    return this.#fails('failure', upstreamFailed('The provider could not be reached.', reason));
  }

  /** Nothing is kept back any more. */
  show(): AttemptEvent {
    const { held } = this;
    this.held = undefined;
    return held ? this.#pass(held.reading, held.take()) : 'part';
  }

  /** Bytes that are to be read once more, now that they are known to be a stream's. */
  takeRest(): Buffer | undefined {
    const rest = this.#rest;
    this.#rest = undefined;
    return rest;
  }

  /** Keeps the last bytes of the stream. */
  endStream(): void {
    this.tail ??= this.callersStream?.end();
  }

  /** How its bytes are processed. */
  get kind(): AnswerKind {
    if (this.held) return 'events';
    const isStream = this.readOn ? this.readOn.stream : this.callersStream;
    return !isStream ? 'whole' : this.#outgoing.passesWhole ? 'vectors' : 'events';
  }

  /** The stream that is read, where the answer is one. */
  get stream(): StreamReading | undefined {
    return this.readOn ? this.readOn.stream : this.callersStream;
  }

  /** The facts by which an answer is billed that is given up. */
  get reading(): AnswerReading | undefined {
    return this.readOn ? this.readOn.reading : this.callersStream;
  }

  /** The bytes in memory, beside those that wait for the caller. */
  get keptBytes(): number {
    if (this.readOn) return this.readOn.keptBytes;
    if (this.held) return this.held.keptBytes;
    if (this.callersStream) return this.callersStream.keptBytes;
    return this.inspectedBytes + (this.collected?.blocks.length ?? 0);
  }

  /** True if the rest may state its usage, so far unknown. */
  get hasMoreToSay(): boolean {
    const { stream } = this;
    const isKnown = stream?.isComplete === true && stream.isUsageFinal;
    return !isKnown && !isProviderError(this.head);
  }

  /** Nothing of it is needed any more. */
  close(): void {
    this.readOn?.close();
    this.collected?.blocks.free();
  }

  #openStream(head: Head): AttemptEvent {
    const stream = this.#outgoing.openStream();
    this.callersStream = stream;
    if (this.#mayBeHeld) this.held = new HeldStream(head, stream);
    return this.#mayBeHeld ? 'held_head' : 'stream_head';
  }

  #collect(collected: CollectedAnswer, chunk: Buffer): AttemptEvent {
    collected.append(chunk);
    const { length } = collected.blocks;
    if (collected.areEvents && this.head) {
      this.head = asEvents(this.head);
      this.collected = undefined;
      this.#rest = collected.take();
      return this.#openStream(this.head);
    }
    if (length > SMALL_BODY_BYTES) freeMemorySoon(chunk);
    if (length <= MAX_ANSWER_BYTES) return 'part';
    return this.#fails('too_large', brokenAnswer(`answered with more than ${MAX_ANSWER_BYTES} bytes`));
  }

  #pass(stream: CallersStream, bytes: Buffer): AttemptEvent {
    this.bytes = bytes;
    if (!stream.isDone) return 'part';
    if (stream.usage === undefined && stream.isComplete) return 'end_mark';
    return this.#endStream('last');
  }

  #endStream(event: 'end' | 'last'): AttemptEvent {
    this.endStream();
    if (this.callersStream?.isComplete) return event;
    return this.#fails('cut', brokenAnswer(CUT_SHORT));
  }

  #fails(event: AttemptEvent, error: GatewayError): AttemptEvent {
    this.error = error;
    return event;
  }
}
