import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import {
  AUDIO_TOKENS,
  asId,
  asNothing,
  asText,
  asWord,
  FILE_TOKENS,
  IMAGE_TOKENS,
  MESSAGE_TOKENS,
  PromptParts,
  type PromptSize,
  rulesOf,
} from '../prompt-parts.ts';
import { RESPONSES_MEMBERS } from './members.ts';

/**
 * Sealed reasoning is base64 of text: three of its characters are a little over two bytes, and prose has about four
 * bytes a token.
 */
const SEALED_CHARACTERS_PER_TOKEN = 3;

const PART_TOKENS = new Map<unknown, number>([
  ['input_image', IMAGE_TOKENS],
  ['computer_screenshot', IMAGE_TOKENS],
  ['image_generation_call', IMAGE_TOKENS],
  ['input_audio', AUDIO_TOKENS],
  ['input_file', FILE_TOKENS],
]);

const TEXT_PARTS = new Set<unknown>([
  'input_text',
  'output_text',
  'summary_text',
  'reasoning_text',
  'refusal',
  'text',
]);

// Items of which a model reads no more than they say. An unknown one may stand for anything that the provider keeps.
const TEXT_ITEMS = new Set<unknown>([
  'message',
  'reasoning',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'local_shell_call',
  'local_shell_call_output',
  'shell_call',
  'shell_call_output',
  'apply_patch_call',
  'apply_patch_call_output',
  'additional_tools',
  'tool_search_call',
  'tool_search_output',
]);

/** The members of an item. Those that count as texts have names that say nothing that their values do not. */
const ITEM = rulesOf({
  type: asNothing,
  role: asWord,
  status: asWord,
  id: asId,
  encrypted_content: (parts, value) => parts.addSealed(value, SEALED_CHARACTERS_PER_TOKEN),
  content: addList,
  summary: addList,
  output: addList,
  name: asText,
  arguments: asText,
  call_id: asText,
  input: asText,
  action: asText,
  namespace: asText,
  execution: asText,
  tools: asText,
  text: asText,
  queries: asText,
});

/** Members that add to the prompt what only the provider knows. */
const KEPT_BY_THE_PROVIDER = ['previous_response_id', 'conversation', 'prompt'] as const;

/** True if the prompt is, or goes on from, something that the provider keeps: then there may be no input. */
export function isKeptByTheProvider(body: JsonObject): boolean {
  return KEPT_BY_THE_PROVIDER.some((name) => body[name] !== undefined && body[name] !== null);
}

/** Splits what a model may read of a response's input into texts to count and tokens that stand for the rest. */
export function responsesPromptSize(input: string | readonly JsonObject[], body: JsonObject): PromptSize {
  const parts = new PromptParts();
  for (const name of KEPT_BY_THE_PROVIDER) {
    if (body[name] !== undefined && body[name] !== null) parts.addUncountable(name);
  }
  if (typeof body['instructions'] === 'string') {
    parts.addTokens(MESSAGE_TOKENS);
    parts.addText(body['instructions']);
  }
  if (typeof input === 'string') {
    parts.addTokens(MESSAGE_TOKENS);
    parts.addText(input);
  } else {
    for (const item of input) addItem(parts, item);
  }
  RESPONSES_MEMBERS.addTo(parts, body);
  return parts.size;
}

function addItem(parts: PromptParts, item: JsonObject): void {
  parts.addTokens(MESSAGE_TOKENS);
  const type = item['type'] ?? 'message';
  if (PART_TOKENS.has(type)) {
    parts.addPart(item, TEXT_PARTS, PART_TOKENS);
    return;
  }
  if (!TEXT_ITEMS.has(type)) {
    parts.addUncountable(type);
    parts.addWord(type);
  }
  parts.addMembers(item, ITEM);
}

/** A list whose parts are counted each by itself, one part without its list, or a text. */
function addList(parts: PromptParts, value: unknown): void {
  if (typeof value !== 'object' || value === null) parts.addText(value);
  else for (const part of Array.isArray(value) ? value : [value]) addPart(parts, part);
}

/** A part of an unknown type within an item that is text, such as the output of a shell, is text too. */
function addPart(parts: PromptParts, part: unknown): void {
  const isTyped = isJsonObject(part) && part['type'] !== undefined;
  if (isTyped) parts.addPart(part, TEXT_PARTS, PART_TOKENS);
  else parts.addText(part);
}
