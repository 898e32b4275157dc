import { isTooComplex, parseJson } from './answer-json.ts';
import { isJsonObject, type JsonObject } from './json.ts';
import type { Redaction } from './redaction.ts';
import { dataOf, EventSplitter, EventTooLarge, withData } from './sse.ts';
import { type SpokenPiece, StreamRedactor } from './stream-redactor.ts';

const NOTHING: Buffer = Buffer.alloc(0);

/** An event with data, as the caller may see it. */
export interface ReceivedEvent {
  readonly bytes: Buffer;
  readonly text: string;
  readonly data: string;
  /** The data, where it is an object in JSON. */
  readonly value: JsonObject | undefined;
}

/** An event that goes on to the caller. */
export interface ShownEvent<P extends SpokenPiece> {
  readonly bytes: Buffer;
  /** The pieces that were generated in it. */
  readonly pieces?: readonly P[];
  /** Its data with these texts in place of its own. */
  readonly rewrite?: (texts: ReadonlyMap<P, string>) => JsonObject;
}

/** The fate of an event: it is shown, left out, or is the end mark. */
export type EventFate<P extends SpokenPiece> = ShownEvent<P> | 'left out' | 'end mark';

/**
 * The way of a stream's events to the caller, whatever the format: they pass byte for byte, whatever the packets'
 * borders, and so does what has no data (a comment). Out of what the caller sees the provider's credential is taken,
 * should the provider repeat it.
 *
 * The end mark is kept back: clients take it for the end of the answer, and the answer must be on record by then.
 */
export class EventPassage<P extends SpokenPiece> {
  isDone = false;
  readonly #splitter = new EventSplitter();
  readonly #redaction: Redaction | undefined;
  readonly #redactor: StreamRedactor<P> | undefined;
  readonly #judge: (event: ReceivedEvent) => EventFate<P>;
  #endMark = NOTHING;

  constructor(redaction: Redaction | undefined, judge: (event: ReceivedEvent) => EventFate<P>) {
    this.#redaction = redaction;
    this.#redactor = redaction && new StreamRedactor(redaction);
    this.#judge = judge;
  }

  /** The bytes that it holds in memory. */
  get keptBytes(): number {
    return this.#splitter.keptBytes + (this.#redactor?.keptBytes ?? 0);
  }

  /** Takes bytes and returns those for the caller, in order. Throws EventTooLarge. */
  push(chunk: Buffer): Buffer {
    return joined(this.#splitter.push(chunk).flatMap((event) => this.#pass(event)));
  }

  /** The bytes that were kept back. Throws EventTooLarge. */
  end(): Buffer {
    const last = this.#pass(this.#splitter.rest());
    return joined([...last, ...(this.#redactor?.end() ?? []), this.#endMark]);
  }

  #pass(received: Buffer): Buffer[] {
    if (this.isDone || received.length === 0) return [];
    const asItCame = received.toString();
    const text = this.#redaction?.text(asItCame) ?? asItCame;
    const bytes = text === asItCame ? received : Buffer.from(text);
    const data = dataOf(text)?.trim();
    if (data === undefined) return this.#show({ bytes });
    if (isTooComplex(bytes)) throw new EventTooLarge('an event of more values than are read');
    const value = parseJson(data);
    const fate = this.#judge({ bytes, text, data, value: isJsonObject(value) ? value : undefined });
    if (fate === 'left out') return [];
    if (fate !== 'end mark') return this.#show(fate);
    this.isDone = true;
    this.#endMark = bytes;
    return [];
  }

  #show({ bytes, pieces = [], rewrite }: ShownEvent<P>): Buffer[] {
    if (!this.#redactor) return [bytes];
    return this.#redactor.pass(bytes, pieces, (texts) =>
      rewrite ? Buffer.from(withData(bytes.toString(), JSON.stringify(rewrite(texts)))) : bytes,
    );
  }
}

function joined(parts: readonly Buffer[]): Buffer {
  const [first = NOTHING, ...others] = parts.filter((part) => part.length > 0);
  return others.length === 0 ? first : Buffer.concat([first, ...others]);
}
