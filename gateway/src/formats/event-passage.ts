import { isTooComplex, parseJson } from '../wire/answer-json.ts';
import { isJsonObject, type JsonObject } from '../wire/json.ts';
import type { Redaction } from '../wire/redaction.ts';
import { dataOf, EventSplitter, EventTooLarge } from '../wire/sse.ts';

/** After the end mark. */
const MAX_LATE_EVENTS = 8;
const NOTHING: Buffer = Buffer.alloc(0);

/** An event with data, as the caller may see it. */
export interface ReceivedEvent {
  readonly bytes: Buffer;
  readonly text: string;
  readonly data: string;
  /** The data, where it is an object in JSON. */
  readonly value: JsonObject | undefined;
}

/** The fate of an event: the bytes that go on to the caller, or it is left out, or is the end mark. */
export type EventFate = Buffer | 'left out' | 'end mark';

/**
 * The way of a stream's events to the caller, whatever the format: they pass byte for byte, whatever the packets'
 * borders, and so does what has no data (a comment). Out of each event the provider's credential is taken, should the
 * provider repeat it there.
 *
 * The end mark is kept back: clients take it for the end of the answer, and the answer must be on record by then.
 */
export class EventPassage {
  isDone = false;
  readonly #splitter = new EventSplitter();
  readonly #redaction: Redaction | undefined;
  readonly #judge: (event: ReceivedEvent) => EventFate;
  readonly #isLate: (value: JsonObject) => boolean;
  #lateEvents = 0;
  #endMark = NOTHING;

  /** `isLate` says of an event after the end mark that it still counts; none does unless given. */
  constructor(
    redaction: Redaction | undefined,
    judge: (event: ReceivedEvent) => EventFate,
    isLate: (value: JsonObject) => boolean = () => false,
  ) {
    this.#redaction = redaction;
    this.#judge = judge;
    this.#isLate = isLate;
  }

  /** The bytes that it holds in memory. */
  get keptBytes(): number {
    return this.#splitter.keptBytes;
  }

  /** Takes bytes and returns those for the caller, in order. Throws EventTooLarge. */
  push(chunk: Buffer): Buffer {
    return joined(this.#splitter.push(chunk).map((event) => this.#pass(event)));
  }

  /** The bytes that were kept back. Throws EventTooLarge. */
  end(): Buffer {
    return joined([this.#pass(this.#splitter.rest()), this.#endMark]);
  }

  #pass(received: Buffer): Buffer {
    if (received.length === 0 || this.#lateEvents > MAX_LATE_EVENTS) return NOTHING;
    const asItCame = received.toString();
    const text = this.#redaction?.text(asItCame) ?? asItCame;
    const bytes = text === asItCame ? received : Buffer.from(text);
    const data = dataOf(text)?.trim();
    if (data === undefined) return this.isDone ? NOTHING : bytes;
    if (isTooComplex(bytes)) throw new EventTooLarge('an event of more values than are read');
    const value = parseJson(data);
    const event = { bytes, text, data, value: isJsonObject(value) ? value : undefined };
    if (this.isDone && !this.#isWanted(event)) return NOTHING;
    const fate = this.#judge(event);
    if (fate === 'left out') return NOTHING;
    if (fate !== 'end mark') return fate;
    this.isDone = true;
    this.#endMark = bytes;
    return NOTHING;
  }

  #isWanted({ value }: ReceivedEvent): boolean {
    this.#lateEvents += 1;
    return value !== undefined && this.#isLate(value);
  }
}

function joined(parts: readonly Buffer[]): Buffer {
  const [first = NOTHING, ...others] = parts.filter((part) => part.length > 0);
  return others.length === 0 ? first : Buffer.concat([first, ...others]);
}
