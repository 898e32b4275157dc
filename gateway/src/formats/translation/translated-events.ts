import { CallersToolStream } from './callers-tools.ts';
import type { TranslationNotes } from './notes.ts';
import type { StreamEvent, StreamWriter } from './stream-events.ts';

/** Takes what a provider's stream says. */
export type NeutralEvents = Pick<TranslatedEvents, 'notes' | 'add'>;

/** The events of a provider's stream on their way into the caller's format. */
export class TranslatedEvents {
  readonly notes: TranslationNotes;
  readonly #tools: CallersToolStream;
  readonly #writer: StreamWriter;
  #written: string[] = [];

  constructor(notes: TranslationNotes, writer: StreamWriter) {
    this.notes = notes;
    this.#tools = new CallersToolStream(notes);
    this.#writer = writer;
  }

  /** The bytes that it holds in memory, beside what is written and not taken. */
  get keptBytes(): number {
    return this.#tools.keptBytes + this.#writer.keptBytes;
  }

  /** The events that are written and not taken. */
  get count(): number {
    return this.#written.length;
  }

  /** Writes a neutral event. */
  add(event: StreamEvent): void {
    for (const one of this.#tools.pass(event)) {
      const written = this.#writer.write(one);
      if (written !== '') this.#written.push(written);
    }
  }

  /** Takes what was written after the first `count` events. */
  takeFrom(count: number): Buffer {
    const taken = count === 0 ? this.#written : this.#written.slice(count);
    this.#written = count === 0 ? [] : this.#written.slice(0, count);
    return Buffer.from(taken.join(''));
  }

  /** The last events, once there are no more. Nothing where the provider stopped before its answer was finished. */
  end(): Buffer {
    return Buffer.from(this.#written.splice(0).join('') + this.#writer.end());
  }

  /** An event that says that the stream is alive. Never in the middle of another. */
  ping(): Buffer {
    return Buffer.from(this.#writer.ping());
  }
}
