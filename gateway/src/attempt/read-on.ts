import type { GatewayError } from '../errors/gateway-error.ts';
import type { Outgoing } from '../formats/outgoing.ts';
import type { AnswerReading, StreamReading } from '../formats/protocol.ts';
import { DeferredUsageReader } from './deferred-usage.ts';
import { type Head, isProviderError, unshown } from './whole-answer.ts';

/** How long an answer is read on that no caller will get; never past the route's time limit. */
export const READ_ON_MS = 60_000;
/** And how much of it: more than any model generates in that time. None of it is kept. */
export const READ_ON_BYTES = 16 * 1024 * 1024;

export interface ReadOnOptions {
  readonly outgoing: Pick<Outgoing, 'openUnseenStream' | 'openUsage'>;
  /** The part that has come: the stream, or the bytes of an answer that is not streamed. */
  readonly stream: StreamReading | undefined;
  readonly collected: readonly Uint8Array<ArrayBuffer>[];
  /** The error that the caller gets in place of the answer; undefined when it has left. */
  readonly error: GatewayError | undefined;
  /** Less of what has come is in memory than before. */
  readonly onRead: () => void;
  /** Gives back the permit that it took; called once. */
  readonly onClose: () => void;
}

/** Reads the rest of an answer that no caller will get, for its usage. */
export class ReadOn {
  readonly error: GatewayError | undefined;
  readonly close: () => void;
  readonly #outgoing: ReadOnOptions['outgoing'];
  readonly #usage: DeferredUsageReader;
  #stream: StreamReading | undefined;
  #bytes = 0;

  constructor(options: ReadOnOptions) {
    const { outgoing, stream, collected, error, onRead, onClose } = options;
    this.error = error;
    this.#outgoing = outgoing;
    this.#stream = stream;
    this.#usage = new DeferredUsageReader(outgoing.openUsage(), collected, onRead);
    this.close = () => {
      this.#usage.close();
      onClose();
    };
  }

  get stream(): StreamReading | undefined {
    return this.#stream;
  }

  /** The bytes of the answer in memory. */
  get keptBytes(): number {
    return this.#stream?.keptBytes ?? this.#usage.waitingBytes;
  }

  /** The facts of the answer. */
  get reading(): AnswerReading {
    return this.#stream ?? unshown(this.#usage.usage);
  }

  /** The head has come only now. */
  begin(head: Head, isStream: boolean): void {
    if (isStream && !isProviderError(head)) this.#stream = this.#outgoing.openUnseenStream();
  }

  /** Takes the next bytes; whether any more are wanted. */
  push(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    (this.#stream ?? this.#usage).push(chunk);
    const isOver = this.#stream?.isDone === true && this.#stream.usage !== undefined;
    return !isOver && this.#bytes <= READ_ON_BYTES;
  }

  /** The answer's end has come; calls back once all of it is read. The last event of a stream may lack its blank line. */
  end(then: () => void): void {
    this.#stream?.end();
    this.#usage.whenAllRead(then);
  }
}
