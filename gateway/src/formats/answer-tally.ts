import { isTooComplex, parseJson } from '../wire/answer-json.ts';
import { isJsonObject, type JsonObject } from '../wire/json.ts';
import type { AnswerContent } from './format.ts';
import type { CountTokens, Usage } from './protocol.ts';
import { statesOutput } from './usage-figures.ts';

/** The kind of something that a model produced; plain text unless it says otherwise. */
export interface SpokenKind {
  readonly isReasoning?: boolean;
  /** False where it is sealed: its length says nothing of the tokens. */
  readonly isCounted?: boolean;
}

const PLAIN: SpokenKind = {};

/** The facts of an answer, as far as it was read: what the provider said of it, and what was generated. */
export class AnswerTally {
  readonly generated = new GeneratedText();
  usage: Usage | undefined;
  isUsageFinal = false;
  upstreamError: string | null = null;
  hasContent = false;
  hasReasoning = false;
  /** Under which the provider may have stored the answer, in formats that have this. */
  responseId: string | undefined;
  readonly #keepsText: boolean;

  /** `keepsText` is false where the usage says already how much was generated. */
  constructor(keepsText = true) {
    this.#keepsText = keepsText;
  }

  /** Something that was generated. `voice` names the text that it continues: a token never spans two. */
  hear(voice: string, text: string, { isReasoning = false, isCounted = true }: SpokenKind = PLAIN): void {
    if (text === '') return;
    this.hasContent = true;
    this.hasReasoning ||= isReasoning;
    // While a stream goes on, it may say another.
    this.isUsageFinal = false;
    if (isCounted && this.#keepsText) this.generated.append(voice, text);
  }

  countGenerated(count: CountTokens): Promise<number> {
    return this.generated.countTokens(count);
  }
}

// As much as is counted exactly; of what lies beyond, the bytes count.
const KEPT_CHARACTERS = 1_000_000;
const MAX_VOICES = 4_096;
// Pieces are a token long each. So many are joined into one string, which takes a tenth of the memory.
const PIECES_PER_STRING = 256;

interface Voice {
  readonly joined: string[];
  pieces: string[];
}

/** The text that a model has produced so far, kept only to count its tokens if the upstream does not say how many. */
export class GeneratedText {
  // By voice: the pieces of two choices arrive interleaved, and a token never spans them.
  readonly #voices = new Map<string, Voice>();
  #characters = 0;
  // Past what is kept: no token is shorter than a byte.
  #bytesBeyond = 0;

  get isEmpty(): boolean {
    return this.#characters === 0;
  }

  /** The bytes that it holds in memory, at most: two a character. */
  get keptBytes(): number {
    return 2 * Math.min(this.#characters, KEPT_CHARACTERS);
  }

  append(voiceName: string, text: string): void {
    if (text === '') return;
    this.#characters += text.length;
    const voice = this.#voiceOf(voiceName);
    if (!voice || this.#characters > KEPT_CHARACTERS) {
      this.#bytesBeyond += Buffer.byteLength(text);
      return;
    }
    voice.pieces.push(text);
    if (voice.pieces.length < PIECES_PER_STRING) return;
    voice.joined.push(voice.pieces.join(''));
    voice.pieces = [];
  }

  /** The tokens of what was appended before the call. */
  async countTokens(count: CountTokens): Promise<number> {
    const texts = Array.from(this.#voices.values(), ({ joined, pieces }) => [...joined, ...pieces].join(''));
    const beyond = this.#bytesBeyond;
    return (await count(texts)) + beyond;
  }

  #voiceOf(name: string): Voice | undefined {
    const existing = this.#voices.get(name);
    if (existing || this.#voices.size >= MAX_VOICES) return existing;
    const voice = { joined: [], pieces: [] };
    this.#voices.set(name, voice);
    return voice;
  }
}

/** The reading of an answer that came whole, as a format gives it. */
export interface WholeAnswer {
  readonly usage?: Usage | undefined;
  readonly hasReasoning?: boolean;
  readonly upstreamError?: string | null;
  readonly responseId?: string | undefined;
  /** Hears all that was generated. */
  readonly hearAll?: (tally: AnswerTally) => void;
}

/** The reading of an answer that came whole. What was generated is kept only where the usage does not say how much it was. */
export class ReadAnswer extends AnswerTally implements AnswerContent {
  readonly value: JsonObject;

  constructor(
    value: JsonObject,
    { usage, hasReasoning = false, upstreamError = null, responseId, hearAll }: WholeAnswer,
  ) {
    super(!statesOutput(usage));
    this.value = value;
    hearAll?.(this);
    this.usage = usage;
    this.isUsageFinal = usage !== undefined;
    this.hasReasoning ||= hasReasoning;
    this.upstreamError = upstreamError;
    this.responseId = responseId;
  }
}

/** Reads an answer that came whole; undefined where it is none of the format, for which `read` returns undefined. */
export function readWhole(
  body: Buffer,
  read: (value: JsonObject) => WholeAnswer | undefined,
): AnswerContent | undefined {
  const value = isTooComplex(body) ? undefined : parseJson(body.toString());
  const whole = isJsonObject(value) ? read(value) : undefined;
  return isJsonObject(value) && whole ? new ReadAnswer(value, whole) : undefined;
}
