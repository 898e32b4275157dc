import { isJsonObject, type JsonObject, withoutMember } from '../../wire/json.ts';
import { nameOf, withData } from '../../wire/sse.ts';
import { type EventFate, EventPassage, type ReceivedEvent } from '../event-passage.ts';
import type { StreamOptions } from '../format.ts';
import { GeneratedText } from '../generated-text.ts';
import { isTooLong, TOO_LONG_CODE } from '../peculiarities/context-length.ts';
import { errorBeside, errorInstead } from '../peculiarities/error-message.ts';
import { finishOf } from '../peculiarities/finish-reasons.ts';
import { hasReasoningTokens, readUsage, statedUsage } from '../peculiarities/usage-names.ts';
import type { CountTokens, StreamReading, Usage } from '../protocol.ts';
import { failedChoiceError } from './facts-of-answer.ts';
import { type PiecesOfChoice, piecesOfDelta } from './pieces.ts';

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
  #hasToldError = false;
  readonly #passage: EventPassage;

  constructor(options: StreamOptions, piecesOf: PiecesOfChoice = piecesOfDelta) {
    this.#piecesOf = piecesOf;
    this.#showsUsage = options.showsUsage;
    this.#choices = options.choices;
    this.#passage = new EventPassage(
      options.redaction,
      (event) => this.#judge(event),
      // Some servers say what they bill after their end mark.
      ({ usage, choices }) =>
        this.usage === undefined && isJsonObject(usage) && !(Array.isArray(choices) && choices.length > 0),
    );
  }

  get isDone(): boolean {
    return this.#passage.isDone;
  }

  /** An end mark is no end of an answer that has neither content nor a finish. */
  get isComplete(): boolean {
    const hasEnded = this.isDone && (this.hasContent || this.#finished.size > 0);
    return hasEnded || this.upstreamError !== null || this.#finished.size >= this.#choices;
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
    if (data === '[DONE]') return this.#hasToldError ? 'left out' : 'end mark';
    const choices = chunk?.['choices'];
    const isChunk = Array.isArray(choices) || (chunk && statedUsage(chunk) !== undefined);
    if (!chunk || !isChunk) return this.#fail(bytes, chunk, errorInstead(nameOf(text), data, chunk));
    this.#read(chunk);
    const error = errorBeside(chunk) ?? failedChoiceError(choices);
    if (error !== undefined) return this.#fail(bytes, chunk, error);
    if (this.#showsUsage || !Object.hasOwn(chunk, 'usage')) return bytes;
    const isOnlyUsage = isJsonObject(chunk['usage']) && !(Array.isArray(choices) && choices.length > 0);
    if (isOnlyUsage) return 'left out';
    const shown = withoutMember(data, 'usage');
    const rest = text.includes(data)
      ? text.replace(data, () => shown)
      : withData(text, shown.replace(/[\r\n]/g, ' '));
    return Buffer.from(rest);
  }

  /** Notes the error of an event, if there is one. Clients read the member `error` alone: where that is missing, an event with it follows. */
  #fail(bytes: Buffer, value: JsonObject | undefined, error: string | undefined): Buffer {
    if (error === undefined) return bytes;
    this.upstreamError ??= error;
    const { error: member, choices, code = null } = value ?? {};
    if (isJsonObject(member) || (typeof member === 'string' && member !== '')) return bytes;
    this.#hasToldError = true;
    const shown = isTooLong(error, code) ? TOO_LONG_CODE : code;
    const told = { message: error, type: 'upstream_error', param: null, code: shown };
    const event = Buffer.from(`data: ${JSON.stringify({ error: told })}\n\n`);
    return Array.isArray(choices) && choices.length > 0 ? Buffer.concat([bytes, event]) : event;
  }

  #read(chunk: JsonObject): void {
    this.#readChoices(chunk['choices']);
    const stated = statedUsage(chunk);
    const usage = readUsage(stated);
    if (!usage) return;
    this.usage = usage;
    this.isUsageFinal = true;
    this.hasReasoning ||= hasReasoningTokens(stated);
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
      const hasEnded = finishOf(choice['finish_reason']) !== undefined;
      if (hasEnded && this.#finished.size < this.#choices) this.#finished.add(index);
    });
  }
}
