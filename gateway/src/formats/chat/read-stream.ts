import type { ReadExact } from '../../wire/exact-json.ts';
import { isJsonObject, type JsonObject, textOf, withoutMember } from '../../wire/json.ts';
import { nameOf, withData } from '../../wire/sse.ts';
import type { EventFate, EventReader, ReceivedEvent } from '../answer-stream.ts';
import type { AnswerTally } from '../answer-tally.ts';
import type { StreamOptions } from '../format.ts';
import { isTooLong, TOO_LONG_CODE } from '../peculiarities/context-length.ts';
import { errorBeside, errorInstead } from '../peculiarities/error-message.ts';
import { finishOf } from '../peculiarities/finish-reasons.ts';
import { hasReasoningTokens, readUsage, statedUsage } from '../peculiarities/usage-names.ts';
import { type NeutralEvents, streamErrorOf } from '../translation/stream-events.ts';
import { type ChatPiece, hasValues, hearPiece, isSilent, type ReadPiece, readDelta } from './pieces.ts';
import { failedChoiceError } from './read-answer.ts';
import { ChatToNeutral } from './to-neutral.ts';

// A stream of chunks of a chat completion, or of a text completion. Its end mark is `[DONE]`.
//
// The gateway always asks the upstream for usage, because that is what is billed. A caller that did not ask for
// it must see the stream it would have seen without us: the chunk that carries only usage is left out, and a
// `usage` member of any other chunk is cut out of its text. Everything else passes byte for byte.

export class ChatReader implements EventReader {
  readonly #tally: AnswerTally;
  readonly #options: StreamOptions;
  readonly #readPiece: ReadPiece;
  readonly #neutral: ChatToNeutral | undefined;
  readonly #finished = new Set<unknown>();
  #hasToldError = false;
  #hasDeltas = false;
  #only: { readonly voice: string; readonly isReasoning: boolean } | undefined;
  onlyText: string | undefined;

  constructor(
    tally: AnswerTally,
    options: StreamOptions,
    translated: NeutralEvents | undefined,
    readPiece: ReadPiece = readDelta,
  ) {
    this.#tally = tally;
    this.#options = options;
    this.#readPiece = readPiece;
    this.#neutral = translated && new ChatToNeutral(translated);
  }

  get keptBytes(): number {
    return this.#neutral?.keptBytes ?? 0;
  }

  /** An end mark is no end of an answer that has neither content nor a finish. */
  isComplete(isDone: boolean): boolean {
    const hasEnded = isDone && (this.#tally.hasContent || this.#finished.size > 0);
    return hasEnded || this.#tally.upstreamError !== null || this.#finished.size >= this.#options.choices;
  }

  /** Some servers say what they bill after their end mark. */
  isLate(chunk: JsonObject): boolean {
    const isStated = this.#tally.usage === undefined && statedUsage(chunk) !== undefined;
    return isStated && !hasMembers(chunk['choices']);
  }

  read(event: ReceivedEvent): EventFate {
    const { bytes, text, data, value: chunk } = event;
    this.onlyText = undefined;
    if (data === '[DONE]') {
      this.#neutral?.onEndMark();
      return this.#hasToldError ? 'left out' : 'end mark';
    }
    const choices = chunk?.['choices'];
    const usage = chunk && statedUsage(chunk);
    if (!chunk || !(Array.isArray(choices) || usage)) {
      return this.#fail(bytes, chunk, errorInstead(nameOf(text), data, chunk));
    }
    this.#readChunk(event, chunk, usage);
    const error = errorBeside(chunk) ?? failedChoiceError(choices);
    if (error !== undefined) return this.#fail(bytes, chunk, error);
    if (this.#options.showsUsage && !Array.isArray(choices)) return withChoices(text, event);
    if (this.#options.showsUsage || !Object.hasOwn(chunk, 'usage')) return bytes;
    return isJsonObject(chunk['usage']) && !hasMembers(choices) ? 'left out' : withoutUsage(text, data);
  }

  readText(text: string): void {
    if (!this.#only) return;
    const { voice, isReasoning } = this.#only;
    this.#tally.hear(voice, text, this.#only);
    if (isReasoning) this.#neutral?.sayReasoning({ reasoning: text, details: [] });
    else this.#neutral?.sayText(text);
  }

  end(): void {
    this.#neutral?.end();
  }

  /** Notes the error of an event, if there is one. Clients read the member `error` alone: where that is missing, an event with it follows. */
  #fail(bytes: Buffer, value: JsonObject | undefined, error: string | undefined): Buffer {
    if (error === undefined) return bytes;
    this.#tally.upstreamError ??= error;
    const { error: member, choices, code = null } = value ?? {};
    if (isJsonObject(member) || (typeof member === 'string' && member !== '')) {
      this.#neutral?.fail(value, streamErrorOf(member));
      return bytes;
    }
    this.#hasToldError = true;
    const shown = isTooLong(error, code) ? TOO_LONG_CODE : code;
    const told = { message: error, type: 'upstream_error', param: null, code: shown };
    this.#neutral?.fail(value, streamErrorOf(told));
    const event = Buffer.from(`data: ${JSON.stringify({ error: told })}\n\n`);
    return hasMembers(choices) ? Buffer.concat([bytes, event]) : event;
  }

  #readChunk({ exact }: ReceivedEvent, chunk: JsonObject, stated: JsonObject | undefined): void {
    const { choices } = chunk;
    const usage = readUsage(stated);
    const list: readonly unknown[] = Array.isArray(choices) ? choices : [];
    const isAlone = list.length === 1 && !stated;
    if (usage) this.#neutral?.begin(chunk);
    const first = list.find(isJsonObject);
    for (const [position, received] of list.entries()) {
      if (!isJsonObject(received)) continue;
      const choice = this.#withDelta(received);
      const piece = this.#readChoice(choice, position, isAlone);
      // One was asked for.
      if (choice['index'] !== first?.['index'] || !this.#neutral) continue;
      // A first chunk that says nothing may lack the names that the next one has.
      const isNamed = textOf(chunk['id']) !== '' || textOf(chunk['model']) !== '';
      if (isNamed || !isSilent(piece) || finishOf(choice['finish_reason'])) this.#neutral.begin(chunk);
      this.#translate(this.#neutral, choice, position, piece, exact);
    }
    if (!usage) return;
    this.#tally.usage = usage;
    this.#tally.isUsageFinal = true;
    this.#tally.hasReasoning ||= hasReasoningTokens(stated);
    this.#neutral?.state(usage);
  }

  #readChoice(choice: JsonObject, position: number, isAlone: boolean): ChatPiece {
    const index = typeof choice['index'] === 'number' ? choice['index'] : position;
    const piece = this.#readPiece(choice);
    hearPiece(this.#tally, index, piece);
    const hasEnded = finishOf(choice['finish_reason']) !== undefined;
    if (hasEnded && this.#finished.size < this.#options.choices) this.#finished.add(index);
    if (isAlone && !hasEnded && choice['error'] === undefined) this.#remember(index, piece);
    return piece;
  }

  #translate(
    neutral: ChatToNeutral,
    choice: JsonObject,
    position: number,
    piece: ChatPiece,
    exact: ReadExact,
  ) {
    const again = () => this.#readPiece(this.#withDelta(choiceAt(exact(), position)));
    neutral.say(hasValues(choice['delta']) ? again() : piece);
    if (finishOf(choice['finish_reason']) !== undefined) neutral.finish(choice);
  }

  /** A choice whose `message` stands in place of its `delta`, as in some servers' chunks. After deltas it repeats them. */
  #withDelta(choice: JsonObject): JsonObject {
    const { delta, message } = choice;
    this.#hasDeltas ||= isJsonObject(delta);
    return this.#hasDeltas || !isJsonObject(message) ? choice : { ...choice, delta: message };
  }

  /** Remembers a piece that is one text and nothing else. */
  #remember(choice: unknown, piece: ChatPiece): void {
    const { text, reasoning, refusal, spoken, details, calls } = piece;
    if (refusal !== '' || spoken !== '' || details.length + calls.length > 0) return;
    if ((text === '') === (reasoning === '')) return;
    const isReasoning = text === '';
    this.#only = { voice: `${choice} ${isReasoning ? 'reasoning' : 'text'}`, isReasoning };
    this.onlyText = text || reasoning;
  }
}

/** A chunk that is only usage, with the empty list of choices that clients go through. */
function withChoices(text: string, { exact }: Pick<ReceivedEvent, 'exact'>): Buffer {
  return Buffer.from(withData(text, JSON.stringify({ ...exact(), choices: [] })));
}

function withoutUsage(text: string, data: string): Buffer {
  const shown = withoutMember(data, 'usage');
  const rest = text.includes(data)
    ? text.replace(data, () => shown)
    : withData(text, shown.replace(/[\r\n]/g, ' '));
  return Buffer.from(rest);
}

function choiceAt({ choices }: JsonObject, position: number): JsonObject {
  const choice: unknown = Array.isArray(choices) ? choices[position] : undefined;
  return isJsonObject(choice) ? choice : {};
}

function hasMembers(choices: unknown): boolean {
  return Array.isArray(choices) && choices.length > 0;
}
