import { isJsonObject } from './json.ts';

// What a prompt is worth in tokens before anybody has counted it: the texts are counted with a tokenizer, the rest is
// set to constants that are meant to be too high rather than too low, because credit is reserved by them. They reach a
// bill only when the upstream reports no usage.

/** The marks around a message, with its role. */
export const MESSAGE_TOKENS = 4;
/** What every answer is opened with. */
export const ANSWER_TOKENS = 3;
/** A picture in the finest resolution of the common models. */
export const IMAGE_TOKENS = 2_000;
/** Some seven minutes of speech. */
export const AUDIO_TOKENS = 4_000;
/** A document of some ten to twenty pages. */
export const FILE_TOKENS = 20_000;

const MOST_UNCOUNTABLE = 8;
const LONGEST_TYPE = 64;

export interface PromptSize {
  readonly overheadTokens: number;
  readonly texts: readonly string[];
  /** The distinct types of the parts that no tokenizer can count, at most 8. */
  readonly uncountableParts: readonly string[];
}

/** Adds up what a model will read: texts to count, and tokens that stand for everything else. */
export class PromptParts {
  readonly #texts: string[] = [];
  readonly #uncountable = new Set<string>();
  #overheadTokens = ANSWER_TOKENS;

  get size(): PromptSize {
    return {
      overheadTokens: this.#overheadTokens,
      texts: this.#texts,
      uncountableParts: [...this.#uncountable],
    };
  }

  addTokens(tokens: number): void {
    this.#overheadTokens += tokens;
  }

  /** Anything but a text counts as its JSON; null and undefined as nothing. */
  addText(value: unknown): void {
    if (value === null || value === undefined) return;
    this.#texts.push(typeof value === 'string' ? value : JSON.stringify(value));
  }

  addUncountable(type: unknown): void {
    if (this.#uncountable.size >= MOST_UNCOUNTABLE) return;
    this.#uncountable.add(typeof type === 'string' ? type.slice(0, LONGEST_TYPE) : 'unknown');
  }

  /** A part of a message: a text by its text, any other by the tokens of its type, else by its JSON. */
  addPart(part: unknown, textTypes: ReadonlySet<unknown>, tokensOf: ReadonlyMap<unknown, number>): void {
    if (typeof part === 'string') {
      this.addText(part);
      return;
    }
    const type = isJsonObject(part) ? part['type'] : undefined;
    if (!textTypes.has(type)) this.addUncountable(type);
    const tokens = tokensOf.get(type);
    if (tokens !== undefined) this.addTokens(tokens);
    else this.addText(isJsonObject(part) && typeof part['text'] === 'string' ? part['text'] : part);
  }
}
