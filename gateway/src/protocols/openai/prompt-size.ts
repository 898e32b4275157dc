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

export interface PromptSize {
  readonly overheadTokens: number;
  readonly texts: readonly string[];
}

/** Splits what a model will read into texts to count and tokens that stand for everything else. */
export function promptSize(messages: readonly JsonObject[], body: JsonObject): PromptSize {
  const texts: string[] = [];
  let overheadTokens = ANSWER_TOKENS;
  for (const message of messages) {
    overheadTokens += MESSAGE_TOKENS;
    for (const [name, value] of Object.entries(message)) {
      if (name === 'content' && Array.isArray(value)) {
        for (const part of value) overheadTokens += partTokens(part, texts);
      } else if (name !== 'role') {
        texts.push(textOf(value));
      }
    }
  }
  for (const name of READ_BY_THE_MODEL) {
    if (body[name] !== undefined && body[name] !== null) texts.push(textOf(body[name]));
  }
  return { overheadTokens, texts };
}

function partTokens(part: unknown, texts: string[]): number {
  const tokens = isJsonObject(part) ? PART_TOKENS.get(String(part['type'])) : undefined;
  if (tokens !== undefined) return tokens;
  texts.push(isJsonObject(part) && typeof part['text'] === 'string' ? part['text'] : textOf(part));
  return 0;
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : JSON.stringify(value);
}
