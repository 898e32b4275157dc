import { isTooComplex, parseJson } from '../wire/answer-json.ts';
import { parseExact, type ReadExact } from '../wire/exact-json.ts';
import { isJsonObject, type JsonObject } from '../wire/json.ts';
import type { Redaction } from '../wire/redaction.ts';
import { dataOf, EventSplitter, EventTooLarge } from '../wire/sse.ts';
import { AnswerTally } from './answer-tally.ts';
import type { CallersStream } from './outgoing.ts';
import { eventOfError, eventsWithin } from './peculiarities/joined-events.ts';
import { TextForm } from './text-form.ts';
import type { TranslatedEvents } from './translation/stream-events.ts';

/** After the end mark. */
const MAX_LATE_EVENTS = 8;
/** Events in a row whose form was of no use. Then no more are looked at. */
const MAX_USELESS_FORMS = 16;
const NOTHING: Buffer = Buffer.alloc(0);
/** In place of an event that was cut, as proxies do to long ones. What it said is lost, so the answer is not whole. */
const BROKEN_EVENT = Buffer.from(
  'event: error\ndata: {"error":{"type":"api_error","message":"The provider sent an event that is no JSON."}}\n\n',
);

/**
 * A provider's stream on its way to the caller, whatever the format. Its events are cut out of the packets and read, each once. To a caller
 * of the same format they pass byte for byte, and so does what has no data (a comment); for another, what they say is written in its format. Out
 * of each event the provider's credential is taken, should the provider repeat it there.
 *
 * The end mark is kept back: clients take it for the end of the answer, and the answer must be on record by then.
 */
export class AnswerStream extends AnswerTally implements CallersStream {
  isDone = false;
  /** Given where the provider's own events do not reach the caller. */
  readonly ping?: () => Buffer;
  readonly #reader: EventReader;
  readonly #redaction: Redaction | undefined;
  readonly #translated: TranslatedEvents | undefined;
  readonly #splitter = new EventSplitter();
  #form: TextForm | undefined;
  #uselessForms = 0;
  #lateEvents = 0;
  #endMark = NOTHING;
  /** True if the provider ended its stream without saying how its answer ends, so that a translated one has no end. */
  #isCutShort = false;

  /** `open` gives the reader of the format, which notes in the tally what it reads. */
  constructor(
    open: (tally: AnswerTally) => EventReader,
    redaction: Redaction | undefined,
    translated: TranslatedEvents | undefined,
  ) {
    super();
    this.#reader = open(this);
    this.#redaction = redaction;
    this.#translated = translated;
    if (translated) this.ping = () => translated.ping();
  }

  get isComplete(): boolean {
    return this.#reader.isComplete(this.isDone) && !this.#isCutShort;
  }

  get keptBytes(): number {
    const translated = this.#translated?.keptBytes ?? 0;
    return this.#splitter.keptBytes + this.#reader.keptBytes + this.generated.keptBytes + translated;
  }

  /** Throws EventTooLarge. */
  push(chunk: Buffer): Buffer {
    const passed: Buffer[] = [];
    for (const event of this.#splitter.push(chunk)) this.#pass(event, passed);
    return this.#taken(passed);
  }

  /** The caller's end mark is in here, and nowhere before. Throws EventTooLarge. */
  end(): Buffer {
    const passed: Buffer[] = [];
    this.#pass(this.#splitter.rest(), passed);
    const rest = [this.#taken(passed), this.#endMark];
    if (!this.#translated) return joined(rest);
    this.#reader.end();
    const last = this.#translated.end();
    this.upstreamError ??= this.#translated.error;
    this.#isCutShort = last.length === 0 && this.upstreamError === null;
    return joined([...rest, last]);
  }

  /** The caller's bytes of the events that were read. */
  #taken(passed: readonly Buffer[]): Buffer {
    return this.#translated?.takeFrom(0) ?? joined(passed);
  }

  #pass(received: Buffer, passed: Buffer[]): void {
    if (received.length === 0 || this.#lateEvents > MAX_LATE_EVENTS) return;
    const form = this.isDone ? undefined : this.#form;
    const text = form?.textOf(received);
    if (!form || text === undefined) {
      this.#passWhole(received, passed);
      return;
    }
    this.#uselessForms = 0;
    this.#reader.readText(text);
    if (!this.#translated) form.addShown(received, passed);
  }

  #passWhole(received: Buffer, passed: Buffer[]): void {
    const asItCame = received.toString();
    const text = this.#redaction?.text(asItCame) ?? asItCame;
    const bytes = text === asItCame ? received : Buffer.from(text);
    const data = dataOf(text)?.trim();
    if (data === undefined) {
      const error = this.isDone || isTooComplex(bytes) ? undefined : eventOfError(text);
      if (error !== undefined) this.#passWhole(Buffer.from(error), passed);
      else if (!this.isDone) passed.push(bytes);
      return;
    }
    if (isTooComplex(bytes)) throw new EventTooLarge('an event of more values than are read');
    const events = eventsWithin(data);
    if (events) {
      for (const event of events) this.#passWhole(Buffer.from(`data: ${event}\n\n`), passed);
      return;
    }
    // Of other values nothing is read; to fail at an end mark takes longer than to read an event.
    const parsed = data.startsWith('{') ? parseJson(data) : undefined;
    const value = isJsonObject(parsed) ? parsed : undefined;
    if (this.#translated && !this.isDone && data.startsWith('{') && parsed === undefined) {
      this.#passWhole(BROKEN_EVENT, passed);
      return;
    }
    if (this.isDone && !this.#isWanted(value)) return;
    const before = this.#translated?.count ?? 0;
    const exact = () => parseExact(data) as JsonObject;
    const fate = this.#reader.read({ bytes, text, data, value, exact });
    if (fate === 'end mark') {
      this.isDone = true;
      // What it says is kept back with it.
      this.#endMark = this.#translated?.takeFrom(before) ?? bytes;
    } else if (fate !== 'left out') {
      passed.push(fate);
      if (this.#reader.onlyText !== undefined) this.#form = this.#formOf(received, bytes, fate);
    }
  }

  /** The form of the event that was read last, which holds nothing but text. */
  #formOf(received: Buffer, bytes: Buffer, shown: Buffer): TextForm | undefined {
    const { onlyText } = this.#reader;
    this.#uselessForms += 1;
    if (onlyText === undefined || bytes !== received || this.#uselessForms > MAX_USELESS_FORMS)
      return undefined;
    return TextForm.of(received, onlyText, shown, this.#redaction);
  }

  #isWanted(value: JsonObject | undefined): boolean {
    this.#lateEvents += 1;
    return value !== undefined && this.#reader.isLate(value);
  }
}

/** The bytes in one piece; parts that lie side by side in memory are not copied. */
function joined(parts: readonly Buffer[]): Buffer {
  const kept = parts.filter((part) => part.length > 0);
  const [first = NOTHING] = kept;
  if (kept.length < 2) return first;
  let end = first.byteOffset;
  const areNeighbours = kept.every((part) => {
    const isNext = part.buffer === first.buffer && part.byteOffset === end;
    end += part.length;
    return isNext;
  });
  return areNeighbours
    ? Buffer.from(first.buffer, first.byteOffset, end - first.byteOffset)
    : Buffer.concat(kept);
}

/** An event with data, as the caller may see it. */
export interface ReceivedEvent {
  readonly bytes: Buffer;
  readonly text: string;
  readonly data: string;
  /** The data, where it is an object in JSON. */
  readonly value: JsonObject | undefined;
  /** The same with its numbers as they were sent. */
  readonly exact: ReadExact;
}

/** The fate of an event: the bytes that go on to a caller of the same format, or it is left out, or is the end mark. */
export type EventFate = Buffer | 'left out' | 'end mark';

/**
 * Reads the events of a provider's stream, each once. What they say becomes facts; where the caller reads another format, it also becomes
 * neutral events.
 */
export interface EventReader {
  /** The bytes that it holds in memory, beside those of the tally. */
  readonly keptBytes: number;
  /** True if the answer reached its end; `isDone` says that the end mark has come. */
  isComplete(isDone: boolean): boolean;
  read(event: ReceivedEvent): EventFate;
  /** The text of the event that was read last, if it holds no more than that; undefined otherwise. */
  readonly onlyText: string | undefined;
  /** Reads an event that is the same as the last one with an `onlyText`, but for that text. */
  readText(text: string): void;
  /** True if an event after the end mark still counts. */
  isLate(value: JsonObject): boolean;
  /** The stream is over: what was held back of a translation goes on. */
  end(): void;
}
