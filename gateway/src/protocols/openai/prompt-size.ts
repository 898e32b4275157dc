import { isJsonObject, type JsonObject } from '../json.ts';

// What a chat prompt is worth in tokens before anybody has counted it: the texts are counted with a tokenizer,
// the rest is set to constants that are meant to be too high rather than too low, because credit is reserved by
// them. They reach a bill only when the upstream reports no usage.

/** The marks around a message, with its role. */
const MESSAGE_TOKENS = 4;
/** What every answer is opened with. */
const ANSWER_TOKENS = 3;
/** A picture in the finest resolution of the common models. */
const IMAGE_TOKENS = 2_000;
/** Some seven minutes of speech. */
const AUDIO_TOKENS = 4_000;
/** A document of some ten to twenty pages. */
const FILE_TOKENS = 20_000;

const PART_TOKENS = new Map([
  ['image_url', IMAGE_TOKENS],
  ['input_audio', AUDIO_TOKENS],
  ['file', FILE_TOKENS],
]);

// Members of a request that a model reads besides its messages.
const READ_BY_THE_MODEL = ['tools', 'functions', 'response_format', 'prediction'];

// The parts whose text is all that a model reads of them.
const TEXT_PARTS = new Set<unknown>(['text', 'refusal']);

const MOST_UNCOUNTABLE = 8;
const LONGEST_TYPE = 64;

export interface PromptSize {
  readonly overheadTokens: number;
  readonly texts: readonly string[];
  /** The distinct types of the parts that no tokenizer can count, at most 8. */
  readonly uncountableParts: readonly string[];
}

/** Splits what a model will read into texts to count and tokens that stand for everything else. */
export function promptSize(messages: readonly JsonObject[], body: JsonObject): PromptSize {
  const texts: string[] = [];
  const uncountable = new Set<string>();
  let overheadTokens = ANSWER_TOKENS;
  for (const message of messages) {
    overheadTokens += MESSAGE_TOKENS;
    for (const [name, value] of Object.entries(message)) {
      if (name === 'content' && typeof value === 'object' && value !== null) {
        for (const part of Array.isArray(value) ? value : [value]) {
          overheadTokens += partTokens(part, texts, uncountable);
        }
      } else if (name !== 'role') {
        // An assistant's message may name the audio that it spoke before, which the model hears again.
        if (name === 'audio' && isJsonObject(value)) uncountable.add('audio');
        texts.push(textOf(value));
      }
    }
  }
  for (const name of READ_BY_THE_MODEL) {
    if (body[name] !== undefined && body[name] !== null) texts.push(textOf(body[name]));
  }
  return { overheadTokens, texts, uncountableParts: [...uncountable].slice(0, MOST_UNCOUNTABLE) };
}

function partTokens(part: unknown, texts: string[], uncountable: Set<string>): number {
  const type = isJsonObject(part) ? part['type'] : typeof part === 'string' ? 'text' : undefined;
  if (!TEXT_PARTS.has(type) && uncountable.size < MOST_UNCOUNTABLE) {
    uncountable.add(typeof type === 'string' ? type.slice(0, LONGEST_TYPE) : 'unknown');
  }
  const tokens = isJsonObject(part) ? PART_TOKENS.get(String(type)) : undefined;
  if (tokens !== undefined) return tokens;
  texts.push(isJsonObject(part) && typeof part['text'] === 'string' ? part['text'] : textOf(part));
  return 0;
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : JSON.stringify(value);
}
