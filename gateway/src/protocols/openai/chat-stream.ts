import { isTooComplex, parseJson } from '../answer-json.ts';
import type { StreamOptions } from '../format.ts';
import { GeneratedText } from '../generated-text.ts';
import { isJsonObject, type JsonObject, withoutMember } from '../json.ts';
import type { CountTokens, StreamReading, Usage } from '../protocol.ts';
import type { Redaction } from '../redaction.ts';
import { dataOf, EventSplitter, EventTooLarge, withData } from '../sse.ts';
import { StreamRedactor } from '../stream-redactor.ts';
import { type Piece, type PiecesOfChoice, piecesOfDelta } from './chat-message.ts';
import { hasReasoningTokens, readErrorMessage, readUsage } from './usage.ts';

// A stream of chunks of a chat completion, or of a text completion, on its way to the caller.
//
// The gateway always asks the upstream for usage, because that is what is billed. A caller that did not ask for
// it must see the stream it would have seen without us: the chunk that carries only usage is left out, and a
// `usage` member of any other chunk is cut out of its text. Everything else passes byte for byte, whatever the
// packets' borders, and what is no chunk at all (a comment, something unreadable) passes too.
//
// Out of what the caller sees the provider's credential is taken, should the provider repeat it.
//
// `[DONE]` is kept back: clients take it for the end of the answer, and the answer must be on record by then.

const NOTHING: Buffer = Buffer.alloc(0);

export class ChatStream implements StreamReading {
  readonly generated = new GeneratedText();
  usage: Usage | undefined;
  isUsageFinal = false;
  upstreamError: string | null = null;
  hasContent = false;
  hasReasoning = false;
  isDone = false;
  readonly #showsUsage: boolean;
  readonly #choices: number;
  readonly #piecesOf: PiecesOfChoice;
  readonly #finished = new Set<unknown>();
  readonly #splitter = new EventSplitter();
  readonly #redaction: Redaction | undefined;
  readonly #redactor: StreamRedactor<Piece> | undefined;
  #endMark: Buffer = NOTHING;

  constructor(options: StreamOptions, piecesOf: PiecesOfChoice = piecesOfDelta) {
    this.#piecesOf = piecesOf;
    this.#showsUsage = options.showsUsage;
    this.#choices = options.choices;
    this.#redaction = options.redaction;
    this.#redactor = options.redaction && new StreamRedactor(options.redaction);
  }

  get isComplete(): boolean {
    return this.isDone || this.upstreamError !== null || this.#finished.size >= this.#choices;
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
    if (data === '[DONE]') {
      this.isDone = true;
      this.#endMark = event;
      return [];
    }
    if (isTooComplex(event)) throw new EventTooLarge('an event of more values than are read');
    const chunk = parseJson(data);
    if (!isJsonObject(chunk)) return this.#show(event);
    const pieces = this.#read(chunk);
    if (this.#showsUsage || !Object.hasOwn(chunk, 'usage')) return this.#show(event, chunk, pieces);
    const isOnlyUsage =
      isJsonObject(chunk['usage']) && Array.isArray(chunk['choices']) && chunk['choices'].length === 0;
    if (isOnlyUsage) return [];
    const shown = withoutMember(data, 'usage');
    const rest = text.includes(data)
      ? text.replace(data, () => shown)
      : withData(text, shown.replace(/[\r\n]/g, ' '));
    return this.#show(Buffer.from(rest), chunk, pieces);
  }

  #show(event: Buffer, chunk: JsonObject = {}, pieces: readonly Piece[] = []): Buffer[] {
    if (!this.#redactor) return [event];
    return this.#redactor.pass(event, pieces, (texts) => {
      for (const [{ holder, member }, text] of texts) Object.assign(holder, { [member]: text });
      const { usage, ...others } = chunk;
      const shown = this.#showsUsage ? chunk : others;
      return Buffer.from(withData(event.toString(), JSON.stringify(shown)));
    });
  }

  /** Takes note of the chunk, and returns what was generated in it. */
  #read(chunk: JsonObject): Piece[] {
    const pieces = this.#readChoices(chunk['choices']);
    if (pieces.length > 0) {
      this.hasContent = true;
      this.isUsageFinal = false;
    }
    const usage = readUsage(chunk['usage']);
    if (usage) {
      this.usage = usage;
      this.isUsageFinal = true;
      this.hasReasoning ||= hasReasoningTokens(chunk['usage']);
    }
    if (isJsonObject(chunk['error']) || typeof chunk['error'] === 'string') {
      this.upstreamError = readErrorMessage(chunk) ?? 'an error without a message';
    }
    return pieces;
  }

  #readChoices(choices: unknown): Piece[] {
    const all: Piece[] = [];
    if (!Array.isArray(choices)) return all;
    choices.forEach((choice: unknown, position) => {
      if (!isJsonObject(choice)) return;
      const index = typeof choice['index'] === 'number' ? choice['index'] : position;
      const pieces = this.#piecesOf(choice, index);
      for (const { voice, text, isCounted, isReasoning } of pieces) {
        if (isCounted) this.generated.append(voice, text);
        this.hasReasoning ||= isReasoning;
      }
      all.push(...pieces);
      const isNew = typeof choice['finish_reason'] === 'string' && this.#finished.size < this.#choices;
      if (isNew) this.#finished.add(index);
    });
    return all;
  }
}

function joined(parts: readonly Buffer[]): Buffer {
  const [first = NOTHING, ...others] = parts.filter((part) => part.length > 0);
  return others.length === 0 ? first : Buffer.concat([first, ...others]);
}
