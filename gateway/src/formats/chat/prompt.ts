import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import {
  AUDIO_TOKENS,
  asText,
  asWord,
  FILE_TOKENS,
  IMAGE_TOKENS,
  MESSAGE_TOKENS,
  PromptParts,
  type PromptSize,
  rulesOf,
} from '../prompt-parts.ts';
import { CHAT_MEMBERS } from './members.ts';

const PART_TOKENS = new Map<unknown, number>([
  ['image_url', IMAGE_TOKENS],
  ['input_audio', AUDIO_TOKENS],
  ['file', FILE_TOKENS],
]);

// The parts whose text is all that a model reads of them.
const TEXT_PARTS = new Set<unknown>(['text', 'refusal']);

/** Splits what a model may read of a chat into texts to count and tokens that stand for everything else. */
export function chatPromptSize(messages: readonly JsonObject[], body: JsonObject): PromptSize {
  const parts = new PromptParts();
  for (const message of messages) {
    parts.addTokens(MESSAGE_TOKENS);
    parts.addMembers(message, MESSAGE);
  }
  CHAT_MEMBERS.addTo(parts, body);
  return parts.size;
}

const MESSAGE = rulesOf({
  role: asWord,
  content: addContent,
  name: asText,
  refusal: asText,
  reasoning: asText,
  reasoning_content: asText,
  tool_calls: asText,
  tool_call_id: asText,
  function_call: asText,
  audio: addAudio,
});

function addContent(parts: PromptParts, value: unknown): void {
  if (typeof value !== 'object' || value === null) parts.addText(value);
  else
    for (const part of Array.isArray(value) ? value : [value]) parts.addPart(part, TEXT_PARTS, PART_TOKENS);
}

/** An assistant's message may name the audio that it spoke before, which the model hears again. */
function addAudio(parts: PromptParts, value: unknown): void {
  if (isJsonObject(value)) parts.addUncountable('audio');
  parts.addText(value);
}
