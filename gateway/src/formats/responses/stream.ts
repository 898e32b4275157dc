import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { nameOf } from '../../wire/sse.ts';
import { type EventFate, EventPassage, type ReceivedEvent } from '../event-passage.ts';
import type { StreamOptions } from '../format.ts';
import { GeneratedText } from '../generated-text.ts';
import { isTooLong, TOO_LONG_CODE } from '../peculiarities/context-length.ts';
import { errorInstead } from '../peculiarities/error-message.ts';
import type { CountTokens, StreamReading, Usage } from '../protocol.ts';
import { statesOutput } from '../usage-figures.ts';
import { idOf, readResponse } from './facts-of-answer.ts';
import { ResponsesText } from './text.ts';

// A stream of the Responses API on its way to the caller. It tells its usage by itself, in its last event, which is its
// end mark, so every event passes byte for byte. Each text comes twice: piece by piece, and whole at the end of its
// part, its item and the response.

const ENDS: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete', 'response.failed']);

export class ResponsesStream implements StreamReading {
  readonly generated = new GeneratedText();
  usage: Usage | undefined;
  isUsageFinal = false;
  upstreamError: string | null = null;
  hasContent = false;
  hasReasoning = false;
  responseId: string | undefined;
  #hasEnded = false;
  #hasToldError = false;
  readonly #text = new ResponsesText(this.generated);
  readonly #passage: EventPassage;

  constructor({ redaction }: Pick<StreamOptions, 'redaction'>) {
    this.#passage = new EventPassage(redaction, (event) => this.#judge(event));
  }

  get isDone(): boolean {
    return this.#passage.isDone;
  }

  /** The end mark of other formats is no end of a response without content. */
  get isComplete(): boolean {
    return this.#hasEnded || (this.isDone && this.hasContent) || this.upstreamError !== null;
  }

  countGenerated(count: CountTokens): Promise<number> {
    return this.generated.countTokens(count);
  }

  get keptBytes(): number {
    return this.#passage.keptBytes + this.generated.keptBytes;
  }

  push(chunk: Buffer): Buffer {
    return this.#passage.push(chunk);
  }

  end(): Buffer {
    return this.#passage.end();
  }

  #judge({ bytes, text, data, value }: ReceivedEvent): EventFate {
    // Some servers end every kind of stream like this.
    if (data === '[DONE]') return this.#hasToldError ? 'left out' : 'end mark';
    const type = value?.['type'];
    if (ENDS.has(type) && value) {
      this.#readEnd(value);
      return 'end mark';
    }
    if (value && typeof type === 'string' && type.startsWith('response.')) this.#read(value);
    else return this.#readOther(bytes, type, errorInstead(nameOf(text), data, value));
    return bytes;
  }

  /** An event that is none of the format. An error in another shape becomes one that clients read. */
  #readOther(bytes: Buffer, type: unknown, error: string | undefined): Buffer {
    if (error === undefined) return bytes;
    this.upstreamError ??= error;
    if (type === 'error') return bytes;
    this.#hasToldError = true;
    const code = isTooLong(error) ? TOO_LONG_CODE : 'upstream_error';
    const told = { type: 'error', sequence_number: 0, code, message: error, param: null };
    return Buffer.from(`event: error\ndata: ${JSON.stringify(told)}\n\n`);
  }

  #read(event: JsonObject): void {
    const { isContent, isReasoning } = this.#text.read(event);
    this.hasReasoning ||= isReasoning;
    if (isContent) {
      this.hasContent = true;
      this.isUsageFinal = false;
    }
    if (event['type'] === 'response.created' && isJsonObject(event['response'])) {
      this.responseId = idOf(event['response']);
    }
  }

  #readEnd(event: JsonObject): void {
    this.#hasEnded = true;
    const response = isJsonObject(event['response']) ? event['response'] : {};
    const { usage, hasContent, hasReasoning, upstreamError, responseId } = readResponse(response);
    this.responseId ??= responseId;
    this.usage = usage;
    this.isUsageFinal = usage !== undefined;
    if (!statesOutput(usage)) this.#text.readWhole(response);
    this.hasContent ||= hasContent;
    this.hasReasoning ||= hasReasoning;
    const isFailed = event['type'] === 'response.failed';
    this.upstreamError ??= upstreamError ?? (isFailed ? 'an error without a message' : null);
  }
}
