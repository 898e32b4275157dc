import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import {
  AUDIO_TOKENS,
  FILE_TOKENS,
  IMAGE_TOKENS,
  MESSAGE_TOKENS,
  PromptParts,
  type PromptSize,
} from '../prompt-parts.ts';
import { CHAT_MEMBERS } from './members.ts';

const PART_TOKENS = new Map<unknown, number>([
  ['image_url', IMAGE_TOKENS],
  ['input_audio', AUDIO_TOKENS],
  ['file', FILE_TOKENS],
]);

// Members of a request that a model reads besides its messages.
const READ_BY_THE_MODEL = ['tools', 'functions', 'response_format', 'prediction'];

// The parts whose text is all that a model reads of them.
const TEXT_PARTS = new Set<unknown>(['text', 'refusal']);

/** Splits what a model may read of a chat into texts to count and tokens that stand for everything else. */
export function chatPromptSize(messages: readonly JsonObject[], body: JsonObject): PromptSize {
  const parts = new PromptParts();
  for (const message of messages) {
    parts.addTokens(MESSAGE_TOKENS);
    for (const name in message) addMember(parts, name, message[name]);
  }
  for (const name of READ_BY_THE_MODEL) parts.addText(body[name]);
  CHAT_MEMBERS.addOthers(parts, body);
  return parts.size;
}

function addMember(parts: PromptParts, name: string, value: unknown): void {
  switch (name) {
    case 'role':
      parts.addWord(value);
      break;
    case 'content':
      if (typeof value !== 'object' || value === null) parts.addText(value);
      else {
        for (const part of Array.isArray(value) ? value : [value])
          parts.addPart(part, TEXT_PARTS, PART_TOKENS);
      }
      break;
    case 'name':
    case 'refusal':
    case 'reasoning':
    case 'reasoning_content':
    case 'tool_calls':
    case 'tool_call_id':
    case 'function_call':
      parts.addText(value);
      break;
    case 'audio':
      // An assistant's message may name the audio that it spoke before, which the model hears again.
      if (isJsonObject(value)) parts.addUncountable('audio');
      parts.addText(value);
      break;
    default:
      parts.addOther(name, value);
  }
}
