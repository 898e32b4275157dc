import { isJsonObject, type JsonObject } from './json.ts';

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
// The words of a format, such as a role, and the names of its members. The tokens of the message around them cover them.
const LONGEST_WORD = 16;
const LONGEST_ID = 128;
const ID_CHARACTERS_PER_TOKEN = 4;
const ID = /^[\w.:-]*$/;
const LONGEST_SETTING = 32;
const MOST_SWITCHES = 2;
/** The members that hold a picture, a recording or a file, as base64 or as a `data:` URL. */
const PAYLOADS: ReadonlySet<string> = new Set(['data', 'file_data', 'result']);
/** Of a picture or a file: words of the format. */
const KINDS: ReadonlySet<string> = new Set(['type', 'media_type', 'format', 'detail']);

export interface PromptSize {
  readonly overheadTokens: number;
  readonly texts: readonly string[];
  /** The distinct types of the parts that no tokenizer can count, at most 8. */
  readonly uncountableParts: readonly string[];
}

/**
 * Adds up what a model may read: texts to count, and tokens that stand for everything else. A provider is sent every byte of a body, and
 * may put any of it into the prompt. So each member is counted by some rule, and one that has no rule counts as text.
 */
export class PromptParts {
  readonly #texts: string[] = [];
  /** Names and values that no rule has counted. One text, since many short ones take longer to count. */
  readonly #others: string[] = [];
  readonly #uncountable = new Set<string>();
  #overheadTokens = ANSWER_TOKENS;

  get size(): PromptSize {
    return {
      overheadTokens: this.#overheadTokens,
      texts: this.#others.length === 0 ? this.#texts : [...this.#texts, this.#others.join(' ')],
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

  /** A role or a state. */
  addWord(value: unknown): void {
    if (typeof value !== 'string' || value.length > LONGEST_WORD) this.addText(value);
  }

  /** The name by which parts refer to each other. No model reads it, and its random letters are no words. */
  addId(value: unknown): void {
    const isId = typeof value === 'string' && value.length <= LONGEST_ID && ID.test(value);
    if (isId) this.#overheadTokens += Math.ceil(value.length / ID_CHARACTERS_PER_TOKEN);
    else this.addText(value);
  }

  addUncountable(type: unknown): void {
    if (this.#uncountable.size >= MOST_UNCOUNTABLE) return;
    this.#uncountable.add(typeof type === 'string' ? type.slice(0, LONGEST_TYPE) : 'unknown');
  }

  /** A member that no rule counts, with its name. */
  addOther(name: string, value: unknown): void {
    if (name.length <= LONGEST_WORD && isEmpty(value)) return;
    this.#others.push(name, typeof value === 'string' ? value : JSON.stringify(value));
  }

  /** The members that no rule counts. */
  addOthers(holder: JsonObject, counted: ReadonlySet<string>): void {
    for (const name in holder) if (!counted.has(name)) this.addOther(name, holder[name]);
  }

  /** The members of a body that no rule counts. A short value of one of the format's settings is no part of a prompt. */
  addSettings(body: JsonObject, counted: ReadonlySet<string>, settings: ReadonlySet<string>): void {
    for (const name in body) {
      const value = body[name];
      if (!counted.has(name) && !(settings.has(name) && isSetting(value))) this.addOther(name, value);
    }
  }

  /** A part of a message: a text by its text, a picture or a file by the tokens of its type, any other by its JSON. */
  addPart(part: unknown, textTypes: ReadonlySet<unknown>, tokensOf: ReadonlyMap<unknown, number>): void {
    if (typeof part === 'string') {
      this.addText(part);
      return;
    }
    const type = isJsonObject(part) ? part['type'] : undefined;
    if (!textTypes.has(type)) this.addUncountable(type);
    const tokens = tokensOf.get(type);
    if (isJsonObject(part) && tokens !== undefined) this.addMedia(part, tokens);
    else if (isJsonObject(part) && textTypes.has(type)) this.#addTextPart(part);
    else this.addText(part);
  }

  /** What is sent of a picture, a recording or a file counts by the tokens of its kind; any words beside it count as text. */
  addMedia(part: JsonObject, tokens: number): void {
    this.#overheadTokens += tokens;
    for (const name in part) if (name !== 'type') this.#addBeside(name, part[name]);
  }

  #addTextPart(part: JsonObject): void {
    for (const name in part) {
      if (name === 'text' || name === 'refusal') this.addText(part[name]);
      else if (name !== 'type') this.addOther(name, part[name]);
    }
  }

  // Calls itself for each level; a body has at most 256.
  #addBeside(name: string, value: unknown): void {
    if (isPayload(name, value)) return;
    if (KINDS.has(name)) this.addWord(value);
    else if (!isJsonObject(value)) this.addOther(name, value);
    else for (const inner in value) this.#addBeside(inner, value[inner]);
  }
}

function isEmpty(value: unknown): boolean {
  return value === null || typeof value === 'boolean' || (Array.isArray(value) && value.length === 0);
}

function isSetting(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= LONGEST_SETTING;
  return isJsonObject(value) ? isSwitches(value) : !Array.isArray(value);
}

/** An object such as `{"include_usage": true}`. */
function isSwitches(value: JsonObject): boolean {
  let members = 0;
  for (const name in value) {
    members += 1;
    const isSwitch =
      name.length <= LONGEST_SETTING && (typeof value[name] === 'boolean' || value[name] === null);
    if (members > MOST_SWITCHES || !isSwitch) return false;
  }
  return true;
}

/** Base64 has no spaces, and text has. */
function isPayload(name: string, value: unknown): boolean {
  if (typeof value !== 'string' || !(PAYLOADS.has(name) || value.startsWith('data:'))) return false;
  return !value.includes(' ');
}
