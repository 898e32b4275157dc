import { isTooComplex, parseJson } from '../answer-json.ts';
import type { StreamOptions } from '../format.ts';
import { GeneratedText } from '../generated-text.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import { readErrorMessage } from '../openai/usage.ts';
import type { CountTokens, StreamReading, Usage } from '../protocol.ts';
import type { Redaction } from '../redaction.ts';
import { dataOf, EventSplitter, EventTooLarge, nameOf, withData } from '../sse.ts';
import { StreamRedactor } from '../stream-redactor.ts';
import { inputOf, type Piece, piecesOf } from './content.ts';
import { UsageTally } from './usage.ts';

// A stream of a message on its way to the caller. Every event passes byte for byte, whatever the packets' borders:
// pings, comments, and events that are not known here. Of what the caller sees, only the provider's credential is
// redacted, if the provider repeats it.
//
// `message_stop` is kept back: clients take it for the end of the answer, and the answer must be on record by then.

const NOTHING: Buffer = Buffer.alloc(0);

export class MessagesStream implements StreamReading {
  readonly generated = new GeneratedText();
  isUsageFinal = false;
  upstreamError: string | null = null;
  hasContent = false;
  isDone = false;
  #hasThinking = false;
  #hasStopReason = false;
  readonly #tally = new UsageTally();
  readonly #splitter = new EventSplitter();
  readonly #redaction: Redaction | undefined;
  readonly #redactor: StreamRedactor<Piece> | undefined;
  #endMark: Buffer = NOTHING;

  constructor({ redaction }: Pick<StreamOptions, 'redaction'>) {
    this.#redaction = redaction;
    this.#redactor = redaction && new StreamRedactor(redaction);
  }

  get usage(): Usage | undefined {
    return this.#tally.usage;
  }

  get hasReasoning(): boolean {
    return this.#hasThinking || (this.usage?.reasoningTokens ?? 0) > 0;
  }

  get isComplete(): boolean {
    return this.isDone || this.upstreamError !== null || this.#hasStopReason;
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
    if (data === undefined) return this.#show(event, {}, []);
    if (isTooComplex(event)) throw new EventTooLarge('an event of more values than are read');
    const parsed = parseJson(data);
    const body = isJsonObject(parsed) ? parsed : {};
    // Clients go by the type in the data; servers that leave it out name the event.
    const type = typeof body['type'] === 'string' ? body['type'] : nameOf(text);
    if (type === 'message_stop') {
      this.isDone = true;
      this.#endMark = event;
      return [];
    }
    return this.#show(event, body, this.#read(type, body));
  }

  #show(event: Buffer, body: JsonObject, pieces: readonly Piece[]): Buffer[] {
    if (!this.#redactor) return [event];
    return this.#redactor.pass(event, pieces, (texts) => {
      for (const [{ holder, member }, text] of texts) Object.assign(holder, { [member]: text });
      return Buffer.from(withData(event.toString(), JSON.stringify(body)));
    });
  }

  /** Takes note of the event, and returns what was generated in it. */
  #read(type: string | undefined, body: JsonObject): Piece[] {
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

  #readContent(content: unknown, position: unknown): Piece[] {
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

function joined(parts: readonly Buffer[]): Buffer {
  const [first = NOTHING, ...others] = parts.filter((part) => part.length > 0);
  return others.length === 0 ? first : Buffer.concat([first, ...others]);
}
