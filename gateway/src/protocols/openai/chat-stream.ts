import { readErrorMessage } from '../error-message.ts';
import { type EventFate, EventPassage, type ReceivedEvent } from '../event-passage.ts';
import type { StreamOptions } from '../format.ts';
import { GeneratedText } from '../generated-text.ts';
import { isJsonObject, type JsonObject, withoutMember } from '../json.ts';
import type { CountTokens, StreamReading, Usage } from '../protocol.ts';
import { withData } from '../sse.ts';
import { type PiecesOfChoice, piecesOfDelta } from './chat-message.ts';
import { hasReasoningTokens, readUsage } from './usage.ts';

// A stream of chunks of a chat completion, or of a text completion, on its way to the caller. Its end mark is `[DONE]`.
//
// The gateway always asks the upstream for usage, because that is what is billed. A caller that did not ask for
// it must see the stream it would have seen without us: the chunk that carries only usage is left out, and a
// `usage` member of any other chunk is cut out of its text. Everything else passes byte for byte.

export class ChatStream implements StreamReading {
  readonly generated = new GeneratedText();
  usage: Usage | undefined;
  isUsageFinal = false;
  upstreamError: string | null = null;
  hasContent = false;
  hasReasoning = false;
  readonly #showsUsage: boolean;
  readonly #choices: number;
  readonly #piecesOf: PiecesOfChoice;
  readonly #finished = new Set<unknown>();
  readonly #passage: EventPassage;

  constructor(options: StreamOptions, piecesOf: PiecesOfChoice = piecesOfDelta) {
    this.#piecesOf = piecesOf;
    this.#showsUsage = options.showsUsage;
    this.#choices = options.choices;
    this.#passage = new EventPassage(options.redaction, (event) => this.#judge(event));
  }

  get isDone(): boolean {
    return this.#passage.isDone;
  }

  get isComplete(): boolean {
    return this.isDone || this.upstreamError !== null || this.#finished.size >= this.#choices;
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

  #judge({ bytes, text, data, value: chunk }: ReceivedEvent): EventFate {
    if (data === '[DONE]') return 'end mark';
    if (!chunk) return bytes;
    this.#read(chunk);
    if (this.#showsUsage || !Object.hasOwn(chunk, 'usage')) return bytes;
    const isOnlyUsage =
      isJsonObject(chunk['usage']) && Array.isArray(chunk['choices']) && chunk['choices'].length === 0;
    if (isOnlyUsage) return 'left out';
    const shown = withoutMember(data, 'usage');
    const rest = text.includes(data)
      ? text.replace(data, () => shown)
      : withData(text, shown.replace(/[\r\n]/g, ' '));
    return Buffer.from(rest);
  }

  #read(chunk: JsonObject): void {
    this.#readChoices(chunk['choices']);
    const usage = readUsage(chunk['usage']);
    if (usage) {
      this.usage = usage;
      this.isUsageFinal = true;
      this.hasReasoning ||= hasReasoningTokens(chunk['usage']);
    }
    if (isJsonObject(chunk['error']) || typeof chunk['error'] === 'string') {
      this.upstreamError = readErrorMessage(chunk) ?? 'an error without a message';
    }
  }

  #readChoices(choices: unknown): void {
    if (!Array.isArray(choices)) return;
    choices.forEach((choice: unknown, position) => {
      if (!isJsonObject(choice)) return;
      const index = typeof choice['index'] === 'number' ? choice['index'] : position;
      const pieces = this.#piecesOf(choice, index);
      for (const { voice, text, isCounted, isReasoning } of pieces) {
        if (isCounted) this.generated.append(voice, text);
        this.hasReasoning ||= isReasoning;
      }
      if (pieces.length > 0) {
        this.hasContent = true;
        this.isUsageFinal = false;
      }
      const isNew = typeof choice['finish_reason'] === 'string' && this.#finished.size < this.#choices;
      if (isNew) this.#finished.add(index);
    });
  }
}
