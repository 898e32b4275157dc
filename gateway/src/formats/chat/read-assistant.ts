import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { optionalList, optionalText, requireObject, requireText } from '../translation/body-members.ts';
import { readCacheControl } from '../translation/cache-control.ts';
import type { AssistantPart, ToolCallPart } from '../translation/conversation.ts';
import type { Losses } from '../translation/losses.ts';
import { contentList, readText } from './read-parts.ts';
import { readReasoning } from './reasoning.ts';

/** The parts of an assistant's message of a caller, in the order that other formats give it. */
export function readAssistantParts(message: JsonObject, path: string, losses: Losses): AssistantPart[] {
  if ((message['function_call'] ?? undefined) !== undefined) {
    losses.lose('functionCall', `${path}.function_call`);
  }
  if ((message['audio'] ?? undefined) !== undefined) losses.lose('audioInput', `${path}.audio`);
  const parts: AssistantPart[] = [...readReasoning(message)];
  contentList(message['content'], `${path}.content`).forEach((part, index) => {
    const at = `${path}.content[${index}]`;
    if (part['type'] === 'refusal') addRefusal(parts, requireText(part['refusal'], `${at}.refusal`));
    else if (part['type'] !== 'text') losses.lose('audioInput', at);
    else if (part['text'] !== '') parts.push(readText(part, at));
  });
  addRefusal(parts, optionalText(message, 'refusal', `${path}.refusal`));
  const calls = optionalList(message, 'tool_calls', `${path}.tool_calls`) ?? [];
  calls.forEach((call, index) => {
    const at = `${path}.tool_calls[${index}]`;
    parts.push(readCall(requireObject(call, at), at, losses));
  });
  return parts;
}

function addRefusal(parts: AssistantPart[], text: string | undefined): void {
  if (text !== undefined && text !== '') parts.push({ type: 'refusal', text });
}

function readCall(call: JsonObject, path: string, losses: Losses): ToolCallPart {
  // Another provider's: only its maker can read it.
  if (isJsonObject(call['extra_content'])) losses.lose('extraContent', `${path}.extra_content`);
  const id = requireText(call['id'], `${path}.id`);
  if (isJsonObject(call['custom'])) {
    return {
      type: 'toolCall',
      id,
      kind: 'custom',
      name: requireText(call['custom']['name'], `${path}.custom.name`),
      arguments: optionalText(call['custom'], 'input', `${path}.custom.input`) ?? '',
    };
  }
  const called = requireObject(call['function'], `${path}.function`);
  return {
    type: 'toolCall',
    id,
    kind: 'function',
    name: requireText(called['name'], `${path}.function.name`),
    arguments: optionalText(called, 'arguments', `${path}.function.arguments`) ?? '',
    ...readCacheControl(call),
  };
}
