import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { nameOf } from '../../wire/sse.ts';
import { type EventFate, EventPassage, type ReceivedEvent } from '../event-passage.ts';
import type { StreamOptions } from '../format.ts';
import { GeneratedText } from '../generated-text.ts';
import { inAnthropicsWords, isTooLong } from '../peculiarities/context-length.ts';
import { errorInstead, errorInWords } from '../peculiarities/error-message.ts';
import type { CountTokens, StreamReading, Usage } from '../protocol.ts';
import { inputOf, piecesOf } from './pieces.ts';
import { UsageTally } from './usage.ts';

// A stream of a message on its way to the caller. Every event passes byte for byte: pings too, and events that are not
// known here. Its end mark is `message_stop`.

const KNOWN: ReadonlySet<unknown> = new Set([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'ping',
]);

export class MessagesStream implements StreamReading {
  readonly generated = new GeneratedText();
  isUsageFinal = false;
  upstreamError: string | null = null;
  hasContent = false;
  #hasThinking = false;
  #hasStopReason = false;
  #hasBegun = false;
  #hasToldError = false;
  readonly #tally = new UsageTally();
  readonly #passage: EventPassage;

  constructor({ redaction }: Pick<StreamOptions, 'redaction'>) {
    this.#passage = new EventPassage(redaction, (event) => this.#judge(event));
  }

  get usage(): Usage | undefined {
    return this.#tally.usage;
  }

  get hasReasoning(): boolean {
    return this.#hasThinking || (this.usage?.reasoningTokens ?? 0) > 0;
  }

  get isDone(): boolean {
    return this.#passage.isDone;
  }

  /** An end mark is no end of a message that has not begun. */
  get isComplete(): boolean {
    return (
      (this.isDone && (this.#hasBegun || this.hasContent)) ||
      this.upstreamError !== null ||
      this.#hasStopReason
    );
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

  #judge({ bytes, text, data, value: body = {} }: ReceivedEvent): EventFate {
    // Clients go by the type in the data; servers that leave it out name the event.
    const type = typeof body['type'] === 'string' ? body['type'] : nameOf(text);
    if (type === 'message_stop') return this.#hasToldError ? 'left out' : 'end mark';
    if (type === 'error' && isJsonObject(body['error'])) this.upstreamError ??= errorInWords(body);
    else if (!KNOWN.has(type)) return this.#readOther(bytes, errorInstead(nameOf(text), data, body));
    else this.#read(type, body);
    return bytes;
  }

  /** An event that is none of the format. An error in another shape becomes one that clients read. */
  #readOther(bytes: Buffer, error: string | undefined): Buffer {
    if (error === undefined) return bytes;
    this.upstreamError ??= error;
    this.#hasToldError = true;
    const told = isTooLong(error)
      ? { type: 'invalid_request_error', message: inAnthropicsWords(error) }
      : { type: 'api_error', message: error };
    return Buffer.from(`event: error\ndata: ${JSON.stringify({ type: 'error', error: told })}\n\n`);
  }

  #read(type: string | undefined, body: JsonObject): void {
    switch (type) {
      case 'message_start': {
        const { message } = body;
        this.#hasBegun = true;
        // What it says of the output is the first token or two.
        if (isJsonObject(message)) this.#tally.add(message['usage']);
        break;
      }
      case 'content_block_start':
        this.#readContent(body['content_block'], body['index']);
        break;
      case 'content_block_delta':
        this.#readContent(body['delta'], body['index']);
        break;
      case 'message_delta': {
        const { delta } = body;
        if (this.#tally.add(body['usage'])) this.isUsageFinal = true;
        if (isJsonObject(delta) && typeof delta['stop_reason'] === 'string') this.#hasStopReason = true;
      }
    }
  }

  #readContent(content: unknown, position: unknown): void {
    if (!isJsonObject(content)) return;
    const index = typeof position === 'number' ? position : 0;
    const pieces = piecesOf(content, index);
    const input = inputOf(content);
    if (input !== undefined) this.generated.append(`${index} input`, input);
    for (const { voice, text, isCounted, isReasoning } of pieces) {
      if (isCounted) this.generated.append(voice, text);
      this.#hasThinking ||= isReasoning;
    }
    if (input !== undefined || pieces.length > 0) {
      this.hasContent = true;
      this.isUsageFinal = false;
    }
  }
}
