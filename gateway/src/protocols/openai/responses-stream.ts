import { isTooComplex, parseJson } from '../answer-json.ts';
import type { StreamOptions } from '../format.ts';
import { GeneratedText } from '../generated-text.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import type { CountTokens, StreamReading, Usage } from '../protocol.ts';
import type { Redaction } from '../redaction.ts';
import { dataOf, EventSplitter, EventTooLarge, withData } from '../sse.ts';
import { type SpokenPiece, StreamRedactor } from '../stream-redactor.ts';
import { readResponse } from './responses-answer.ts';
import { ResponsesText } from './responses-text.ts';
import { readErrorMessage } from './usage.ts';

// A stream of the Responses API on its way to the caller. It tells its usage by itself, in its last event, so every
// event passes byte for byte, whatever the packets' borders, and what is no event of the format (a comment, something
// unreadable) passes too.
//
// Out of what the caller sees the provider's credential is taken, should the provider repeat it. Each text comes twice:
// piece by piece, and whole at the end of its part, its item and the response.
//
// The last event is kept back: clients take it for the end of the answer, and the answer must be on record by then.

const NOTHING: Buffer = Buffer.alloc(0);
const ENDS: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete', 'response.failed']);

export class ResponsesStream implements StreamReading {
  readonly generated = new GeneratedText();
  usage: Usage | undefined;
  isUsageFinal = false;
  upstreamError: string | null = null;
  hasContent = false;
  hasReasoning = false;
  isDone = false;
  readonly #text = new ResponsesText(this.generated);
  readonly #splitter = new EventSplitter();
  readonly #redaction: Redaction | undefined;
  readonly #redactor: StreamRedactor<SpokenPiece> | undefined;
  #endMark: Buffer = NOTHING;

  constructor({ redaction }: Pick<StreamOptions, 'redaction'>) {
    this.#redaction = redaction;
    this.#redactor = redaction && new StreamRedactor(redaction);
  }

  get isComplete(): boolean {
    return this.isDone || this.upstreamError !== null;
  }

  countGenerated(count: CountTokens): Promise<number> {
    return this.generated.countTokens(count);
  }

  get keptBytes(): number {
    return this.#splitter.keptBytes + this.generated.keptBytes + (this.#redactor?.keptBytes ?? 0);
  }

  push(chunk: Buffer): Buffer {
    return joined(this.#splitter.push(chunk).flatMap((event) => this.#pass(event)));
  }

  end(): Buffer {
    const last = this.#pass(this.#splitter.rest());
    return joined([...last, ...(this.#redactor?.end() ?? []), this.#endMark]);
  }

  #pass(received: Buffer): Buffer[] {
    if (this.isDone || received.length === 0) return [];
    const asItCame = received.toString();
    const text = this.#redaction?.text(asItCame) ?? asItCame;
    const event = text === asItCame ? received : Buffer.from(text);
    const data = dataOf(text)?.trim();
    if (data === undefined) return this.#show(event);
    // Some servers end every kind of stream like this.
    if (data === '[DONE]') return this.#keepBack(event);
    if (isTooComplex(event)) throw new EventTooLarge('an event of more values than are read');
    const value = parseJson(data);
    if (!isJsonObject(value)) return this.#show(event);
    if (ENDS.has(value['type'])) {
      this.#readEnd(value);
      return this.#keepBack(event);
    }
    this.#read(value);
    return this.#show(event, value);
  }

  #keepBack(event: Buffer): Buffer[] {
    this.isDone = true;
    this.#endMark = event;
    return [];
  }

  #show(event: Buffer, value: JsonObject = {}): Buffer[] {
    if (!this.#redactor) return [event];
    const piece = this.#text.spokenIn(value);
    return this.#redactor.pass(event, piece ? [piece] : [], (texts) => {
      const delta = piece && texts.get(piece);
      return Buffer.from(withData(event.toString(), JSON.stringify({ ...value, delta })));
    });
  }

  #read(event: JsonObject): void {
    const { isContent, isReasoning } = this.#text.read(event);
    this.hasReasoning ||= isReasoning;
    if (isContent) {
      this.hasContent = true;
      this.isUsageFinal = false;
    }
    if (event['type'] === 'error') {
      this.upstreamError = readErrorMessage(event) ?? 'an error without a message';
    }
  }

  #readEnd(event: JsonObject): void {
    const response = isJsonObject(event['response']) ? event['response'] : {};
    const { usage, hasContent, hasReasoning, upstreamError } = readResponse(response);
    this.usage = usage;
    this.isUsageFinal = usage !== undefined;
    if (!usage) this.#text.readWhole(response);
    this.hasContent ||= hasContent;
    this.hasReasoning ||= hasReasoning;
    const isFailed = event['type'] === 'response.failed';
    this.upstreamError ??= upstreamError ?? (isFailed ? 'an error without a message' : null);
  }
}

function joined(parts: readonly Buffer[]): Buffer {
  const [first = NOTHING, ...others] = parts.filter((part) => part.length > 0);
  return others.length === 0 ? first : Buffer.concat([first, ...others]);
}
