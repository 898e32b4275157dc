import { readErrorMessage } from '../error-message.ts';
import { type EventFate, EventPassage, type ReceivedEvent } from '../event-passage.ts';
import type { StreamOptions } from '../format.ts';
import { GeneratedText } from '../generated-text.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import type { CountTokens, StreamReading, Usage } from '../protocol.ts';
import { nameOf } from '../sse.ts';
import { inputOf, piecesOf } from './messages-content.ts';
import { UsageTally } from './usage.ts';

// A stream of a message on its way to the caller. Every event passes byte for byte: pings too, and events that are not
// known here. Its end mark is `message_stop`.

export class MessagesStream implements StreamReading {
  readonly generated = new GeneratedText();
  isUsageFinal = false;
  upstreamError: string | null = null;
  hasContent = false;
  #hasThinking = false;
  #hasStopReason = false;
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

  get isComplete(): boolean {
    return this.isDone || this.upstreamError !== null || this.#hasStopReason;
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

  #judge({ bytes, text, value: body = {} }: ReceivedEvent): EventFate {
    // Clients go by the type in the data; servers that leave it out name the event.
    const type = typeof body['type'] === 'string' ? body['type'] : nameOf(text);
    if (type === 'message_stop') return 'end mark';
    this.#read(type, body);
    return bytes;
  }

  #read(type: string | undefined, body: JsonObject): void {
    switch (type) {
      case 'message_start': {
        const { message } = body;
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
        break;
      }
      case 'error':
        this.upstreamError = readErrorMessage(body) ?? 'an error without a message';
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
