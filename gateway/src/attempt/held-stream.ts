import type { Outcome } from '../context/outcome.ts';
import type { CallersStream, Outgoing } from '../formats/outgoing.ts';
import { isEventStream } from '../wire/headers.ts';
import type { Redaction } from '../wire/redaction.ts';
import { brokenAnswer, CUT_SHORT, errorWithin, failedAnswer, type Head } from './whole-answer.ts';

/**
 * The largest part of a stream that is kept back. Nothing is generated before its first content, but the Responses API repeats the
 * instructions and the tools in its first events, twice.
 */
export const MAX_HELD_BYTES = 256 * 1024;
/**
 * How long a stream without content is kept back, where the route does not say how long that may take. Proxies and
 * clients give up after a minute without a sign of life.
 */
export const MAX_HELD_MS = 15_000;

/**
 * The beginning of a stream, kept back until its first content, because another attempt may follow until then. A caller
 * never sees two beginnings.
 */
export class HeldStream {
  readonly head: Head;
  readonly reading: CallersStream;
  readonly #held: Buffer[] = [];
  #heldBytes = 0;

  constructor(head: Head, reading: CallersStream) {
    this.head = head;
    this.reading = reading;
  }

  get keptBytes(): number {
    return this.#heldBytes + this.reading.keptBytes;
  }

  /** Takes the provider's bytes. Throws EventTooLarge. */
  push(chunk: Buffer): void {
    this.#keep(this.reading.push(chunk));
  }

  /** The provider's stream is over: keeps its last bytes too. */
  end(): void {
    this.#keep(this.reading.end());
  }

  /** True if it is an error instead of an answer. */
  get isError(): boolean {
    return this.reading.upstreamError !== null && !this.reading.hasContent;
  }

  /** True if it goes to the caller now. */
  get isReady(): boolean {
    return (
      this.reading.hasContent || (this.reading.isDone && !this.isOver) || this.keptBytes > MAX_HELD_BYTES
    );
  }

  /** True if no content can come any more: an error came in its place, or the end mark before any. */
  get isOver(): boolean {
    return this.isError || (this.reading.isDone && !this.reading.isComplete);
  }

  /** All that was kept back. */
  take(): Buffer {
    this.#heldBytes = 0;
    return Buffer.concat(this.#held.splice(0));
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
  }
}

/** The outcome of a stream that ended without content: an error, nothing at all, or an empty answer. */
export function outcomeOfHeld(
  held: HeldStream,
  outgoing: Pick<Outgoing, 'headersToCaller'>,
  redaction: Redaction | undefined,
): Outcome {
  const { head, reading } = held;
  const { status } = head;
  const upstreamError = errorWithin(reading, redaction);
  // What is no stream of events holds an error's words in its body, where no client looks for them.
  if (upstreamError !== null && !isEventStream(head.headers))
    return { kind: 'refused', error: failedAnswer(upstreamError) };
  if (!held.isError && !reading.isComplete) {
    return { kind: 'refused', error: brokenAnswer(CUT_SHORT), reading };
  }
  const headers = outgoing.headersToCaller(status, head.headers);
  return { kind: 'answered', status, headers, body: held.take(), reading, upstreamError };
}
