import { readErrorMessage } from '../error-message.ts';
import { type EventFate, EventPassage, type ReceivedEvent } from '../event-passage.ts';
import type { StreamOptions } from '../format.ts';
import { type GeneratedPiece, replaceTexts } from '../generated-piece.ts';
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
  readonly #passage: EventPassage<GeneratedPiece>;

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

  #judge({ bytes, text, value: body = {} }: ReceivedEvent): EventFate<GeneratedPiece> {
    // Clients go by the type in the data; servers that leave it out name the event.
    const type = typeof body['type'] === 'string' ? body['type'] : nameOf(text);
    if (type === 'message_stop') return 'end mark';
    const pieces = this.#read(type, body);
    const rewrite = (texts: ReadonlyMap<GeneratedPiece, string>): JsonObject => {
      replaceTexts(texts);
      return body;
    };
    return { bytes, pieces, rewrite };
  }

  /** Takes note of the event, and returns what was generated in it. */
  #read(type: string | undefined, body: JsonObject): GeneratedPiece[] {
    switch (type) {
      case 'message_start': {
        const { message } = body;
        // What it says of the output is the first token or two.
        if (isJsonObject(message)) this.#tally.add(message['usage']);
        return [];
      }
      case 'content_block_start':
        return this.#readContent(body['content_block'], body['index']);
      case 'content_block_delta':
        return this.#readContent(body['delta'], body['index']);
      case 'message_delta': {
        const { delta } = body;
        if (this.#tally.add(body['usage'])) this.isUsageFinal = true;
        if (isJsonObject(delta) && typeof delta['stop_reason'] === 'string') this.#hasStopReason = true;
        return [];
      }
      case 'error':
        this.upstreamError = readErrorMessage(body) ?? 'an error without a message';
        return [];
      default:
        return [];
    }
  }

  #readContent(content: unknown, position: unknown): GeneratedPiece[] {
    if (!isJsonObject(content)) return [];
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
    return pieces;
  }
}
