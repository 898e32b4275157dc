import type { Timers } from '../clock.ts';
import type { Refusal } from '../http/refusal.ts';
import { GeneratedText } from '../protocols/generated-text.ts';
import type { AnswerReading, Call, StreamReading, UsageReader } from '../protocols/protocol.ts';

/** How long an answer is read on that reaches no caller any more; never past the route's time. */
export const READ_ON_MS = 60_000;
/** And how much of it: more than any model generates in that time. Nothing of it is kept. */
const READ_ON_BYTES = 32 * 1024 * 1024;

export interface ReadOnOptions {
  readonly call: Call;
  readonly timers: Timers;
  /** What came so far of an answer that is not streamed. */
  readonly collected: readonly Buffer[];
  /** What the caller gets in place of the answer; undefined when it has left. */
  readonly refusal: Refusal | undefined;
  readonly onTimeIsUp: () => void;
  /** Gives back the place that it took; called once. */
  readonly onClose: () => void;
}

/** Reads what is left of an answer that reaches no caller any more, for what it says of its usage. */
export class ReadOn {
  readonly refusal: Refusal | undefined;
  readonly close: () => void;
  readonly #usage: UsageReader;
  #bytes = 0;

  constructor({ call, timers, collected, refusal, onTimeIsUp, onClose }: ReadOnOptions) {
    this.refusal = refusal;
    this.#usage = call.openUsage();
    for (const block of collected) this.#usage.push(block);
    const cancel = timers.after(READ_ON_MS, onTimeIsUp);
    this.close = () => {
      cancel();
      onClose();
    };
  }

  /** Takes the next bytes; whether any more are wanted. */
  push(chunk: Buffer, stream: StreamReading | undefined): boolean {
    this.#bytes += chunk.length;
    if (stream) stream.push(chunk);
    else this.#usage.push(chunk);
    return stream?.isDone !== true && this.#bytes <= READ_ON_BYTES;
  }

  /** What is known of the answer. */
  reading(stream: StreamReading | undefined): AnswerReading {
    return stream ?? unshown(this.#usage);
  }
}

/** What is known of an answer of which only the usage was read. */
export function unshown({ usage }: UsageReader): AnswerReading {
  return {
    usage,
    isUsageFinal: usage !== undefined,
    hasContent: true,
    hasReasoning: false,
    generated: new GeneratedText(),
    upstreamError: null,
  };
}
