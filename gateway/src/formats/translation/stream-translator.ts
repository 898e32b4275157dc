import { isTooComplex, parseJson } from '../../wire/answer-json.ts';
import { parseExact } from '../../wire/exact-json.ts';
import type { JsonObject } from '../../wire/json.ts';
import { dataOf, EventSplitter, EventTooLarge } from '../../wire/sse.ts';
import { CallersToolStream } from './callers-tools.ts';
import type { TranslationNotes } from './notes.ts';
import { END_MARK, type StreamReader, type StreamWriter } from './stream-events.ts';

/** A provider's stream on its way into the caller's format. */
export interface StreamTranslator {
  /** The bytes that it holds in memory. */
  readonly keptBytes: number;
  /** The caller's events for these bytes, however they are cut. Throws EventTooLarge. */
  push(chunk: Buffer): Buffer;
  /** The last events, to be called once. Nothing where the provider stopped before its answer was finished. */
  end(): Buffer;
  /** An event that says that the stream is alive. Never in the middle of another. */
  ping(): Buffer;
}

export class TranslatedEvents implements StreamTranslator {
  readonly #splitter = new EventSplitter();
  readonly #reader: StreamReader;
  readonly #tools: CallersToolStream;
  readonly #writer: StreamWriter;

  constructor(reader: StreamReader, writer: StreamWriter, notes: TranslationNotes) {
    this.#reader = reader;
    this.#writer = writer;
    this.#tools = new CallersToolStream(notes);
  }

  get keptBytes(): number {
    return this.#splitter.keptBytes + this.#reader.keptBytes + this.#tools.keptBytes + this.#writer.keptBytes;
  }

  push(chunk: Buffer): Buffer {
    return Buffer.from(
      this.#splitter
        .push(chunk)
        .map((event) => this.#translate(event))
        .join(''),
    );
  }

  end(): Buffer {
    const last = this.#translate(this.#splitter.rest());
    const rest = this.#reader.end().flatMap((event) => this.#tools.pass(event));
    return Buffer.from(last + rest.map((event) => this.#writer.write(event)).join('') + this.#writer.end());
  }

  ping(): Buffer {
    return Buffer.from(this.#writer.ping());
  }

  #translate(bytes: Buffer): string {
    if (bytes.length === 0) return '';
    if (isTooComplex(bytes)) throw new EventTooLarge('an event of more values than are read');
    const event = bytes.toString();
    const data = dataOf(event)?.trim();
    if (data === undefined) return '';
    const value = data === END_MARK ? data : parseJson(data);
    return this.#reader
      .read(nameOf(event), value, () => parseExact(data) as JsonObject)
      .flatMap((one) => this.#tools.pass(one))
      .map((one) => this.#writer.write(one))
      .join('');
  }
}

function nameOf(event: string): string {
  return /^\ufeff?event: ?([^\r\n]{0,64})/m.exec(event)?.[1] ?? '';
}
