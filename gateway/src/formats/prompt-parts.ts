import { isJsonObject, type JsonObject } from '../wire/json.ts';

// What a prompt is worth in tokens before anybody has counted it: the texts are counted with a tokenizer, the rest is
// set to constants that are meant to be too high rather than too low, because credit is reserved by them. They reach a
// bill only when the upstream reports no usage.

/** The marks around a message, with its role. */
export const MESSAGE_TOKENS = 4;
/** The marks that open every answer. */
export const ANSWER_TOKENS = 3;
/** A picture in the finest resolution of the common models. */
export const IMAGE_TOKENS = 2_000;
/** Some seven minutes of speech. */
export const AUDIO_TOKENS = 4_000;
/** A document of some ten to twenty pages. */
export const FILE_TOKENS = 20_000;

const MAX_UNCOUNTABLE = 8;
const MAX_TYPE_LENGTH = 64;
const MAX_ID_LENGTH = 128;
const ID_CHARACTERS_PER_TOKEN = 4;
const ID = /^[\w.:-]*$/;
const MAX_SETTING_LENGTH = 32;
const MAX_SWITCHES = 2;

/** The roles and states of the formats. The tokens of the message around them cover them. */
const WORDS: ReadonlySet<unknown> = new Set([
  ...['system', 'developer', 'user', 'assistant', 'tool', 'function', 'model'],
  ...['in_progress', 'completed', 'incomplete', 'failed'],
]);
/** Members that SDKs send although there is nothing in them. */
const OFTEN_EMPTY: ReadonlySet<string> = new Set([
  ...['name', 'content', 'refusal', 'annotations', 'audio', 'logprobs', 'citations', 'phase'],
  ...['function_call', 'tool_calls', 'tool_call_id', 'is_error', 'caller', 'namespace', 'cache_control'],
  ...['reasoning', 'reasoning_content', 'reasoning_details', 'id', 'status', 'title', 'context'],
]);

/** Members that hold the parts of a picture or a file one level down. */
const HOLDERS: ReadonlySet<string> = new Set(['image_url', 'input_audio', 'file', 'source']);
/** The members that hold a picture, a recording or a file as base64. Some may be a `data:` URL, as these are. */
const PAYLOADS: ReadonlySet<string> = new Set(['data', 'file_data', 'result']);
const URLS: ReadonlySet<string> = new Set(['url', 'image_url']);
/** Members of a picture or a file with words of the format. */
const KINDS: ReadonlySet<string> = new Set(['type', 'media_type', 'format', 'detail']);
const MAX_KIND_LENGTH = 16;
const MAX_URL_HEAD_LENGTH = 128;
const NOT_BASE64 = /[^\w+/=\r\n-]/;
/** Encoders that wrap their lines write more on each. */
const MIN_LINE_LENGTH = 48;
const TEXT_URL = /^data:text\//i;
/** Base64 of these is three bytes of text: a token at least, in most scripts. */
const TEXT_CHARACTERS_PER_TOKEN = 4;
const NOT_SEALED = /[^!-~]/;

export interface PromptSize {
  readonly overheadTokens: number;
  readonly texts: readonly string[];
  /** The distinct types of the parts that no tokenizer can count, at most 8. */
  readonly uncountableParts: readonly string[];
}

/** How a member counts. */
export type Rule = (parts: PromptParts, value: unknown) => void;
export type Rules = ReadonlyMap<string, Rule>;

export function rulesOf(rules: Readonly<Record<string, Rule>>): Rules {
  return new Map(Object.entries(rules));
}

export const asNothing: Rule = () => {};
export const asText: Rule = (parts, value) => parts.addText(value);
export const asWord: Rule = (parts, value) => parts.addWord(value);
export const asId: Rule = (parts, value) => parts.addId(value);

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
    if (!WORDS.has(value)) this.addText(value);
  }

  /** Adds a value that only its provider can read. Something with spaces or accents is not sealed, and counts as text. */
  addSealed(value: unknown, charactersPerToken: number): void {
    if (typeof value !== 'string' || NOT_SEALED.test(value)) this.addText(value);
    else this.#overheadTokens += Math.ceil(value.length / charactersPerToken);
  }

  /** The name by which parts refer to each other. No model reads it, and its random letters are no words. */
  addId(value: unknown): void {
    const isId = typeof value === 'string' && value.length <= MAX_ID_LENGTH && ID.test(value);
    if (isId) this.#overheadTokens += Math.ceil(value.length / ID_CHARACTERS_PER_TOKEN);
    else this.addText(value);
  }

  addUncountable(type: unknown): void {
    if (this.#uncountable.size >= MAX_UNCOUNTABLE) return;
    this.#uncountable.add(typeof type === 'string' ? type.slice(0, MAX_TYPE_LENGTH) : 'unknown');
  }

  /** A member that no rule counts, with its name. */
  addOther(name: string, value: unknown): void {
    if (value === undefined || (OFTEN_EMPTY.has(name) && isEmpty(value))) return;
    this.#others.push(name, typeof value === 'string' ? value : JSON.stringify(value));
  }

  /** The members of a message, an item or a block, each by its rule. One that has none counts as text, with its name. */
  addMembers(holder: JsonObject, rules: Rules): void {
    for (const name in holder) {
      const rule = rules.get(name);
      if (rule) rule(this, holder[name]);
      else this.addOther(name, holder[name]);
    }
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
    else if (isJsonObject(part) && textTypes.has(type)) this.addMembers(part, TEXT_PART);
    else this.addText(part);
  }

  /** The parts of a picture, a recording or a file count by the tokens of its kind; any words beside it count as text. */
  addMedia(part: JsonObject, tokens: number): void {
    this.#overheadTokens += tokens;
    for (const name in part) {
      const value = part[name];
      if (!HOLDERS.has(name) || !isJsonObject(value)) this.#addBeside(name, value);
      else for (const inner in value) this.#addBeside(inner, value[inner]);
    }
  }

  #addBeside(name: string, value: unknown): void {
    if (typeof value === 'string') {
      if (KINDS.has(name) && value.length <= MAX_KIND_LENGTH) return;
      if (isPayload(name, value)) {
        if (TEXT_URL.test(value)) this.#overheadTokens += Math.ceil(value.length / TEXT_CHARACTERS_PER_TOKEN);
        return;
      }
    }
    this.addOther(name, value);
  }
}

const TEXT_PART = rulesOf({ type: asNothing, text: asText, refusal: asText });

function isEmpty(value: unknown): boolean {
  return value === null || typeof value === 'boolean' || (Array.isArray(value) && value.length === 0);
}

function isSetting(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= MAX_SETTING_LENGTH;
  return isJsonObject(value) ? isSwitches(value) : !Array.isArray(value);
}

/** An object such as `{"include_usage": true}`. */
function isSwitches(value: JsonObject): boolean {
  let members = 0;
  for (const name in value) {
    members += 1;
    const isSwitch =
      name.length <= MAX_SETTING_LENGTH && (typeof value[name] === 'boolean' || value[name] === null);
    if (members > MAX_SWITCHES || !isSwitch) return false;
  }
  return true;
}

function isPayload(name: string, value: string): boolean {
  if (!value.startsWith('data:')) return PAYLOADS.has(name) && isBase64(value);
  if (!PAYLOADS.has(name) && !URLS.has(name)) return false;
  const headEnd = value.slice(0, MAX_URL_HEAD_LENGTH).indexOf(',');
  return value.slice(0, headEnd).endsWith(';base64') && isBase64(value.slice(headEnd + 1));
}

function isBase64(value: string): boolean {
  if (NOT_BASE64.test(value)) return false;
  let lines = 0;
  for (let at = value.indexOf('\n'); at !== -1; at = value.indexOf('\n', at + 1)) lines += 1;
  return lines * MIN_LINE_LENGTH <= value.length;
}
