import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { BodyError } from '../request-facts.ts';
import {
  defined,
  optionalList,
  optionalText,
  requireList,
  requireObject,
  requireText,
} from '../translation/body-members.ts';
import { readCacheControl, withBreakpoint } from '../translation/cache-control.ts';
import type {
  AssistantPart,
  DocumentPart,
  ImagePart,
  Instruction,
  ResultPart,
  TextPart,
  ToolCallPart,
  Turn,
  UserPart,
} from '../translation/conversation.ts';
import { documentSource, sourceOfUrl } from '../translation/data-url.ts';
import type { Losses } from '../translation/losses.ts';
import { readReasoning } from './reasoning.ts';

/** The messages as instructions and turns. */
export function readMessages(
  value: unknown,
  losses: Losses,
): { readonly instructions: readonly Instruction[]; readonly turns: readonly Turn[] } {
  const instructions: Instruction[] = [];
  const turns: Turn[] = [];
  // What the tools answered belongs to one turn, with what the user says next.
  let results: UserPart[] | undefined;
  requireList(value, 'messages').forEach((item, index) => {
    const path = `messages[${index}]`;
    const message = requireObject(item, path);
    const role = requireText(message['role'], `${path}.role`);
    if (optionalText(message, 'name', `${path}.name`) !== undefined && role !== 'tool') {
      losses.lose('participantNames', `${path}.name`);
    }
    if (role === 'tool') {
      if (!results) {
        results = [];
        turns.push({ role: 'user', parts: results });
      }
      results.push(readResult(message, path, losses));
      return;
    }
    const open = results;
    results = undefined;
    switch (role) {
      case 'system':
      case 'developer': {
        const instruction = {
          role,
          parts: withBreakpoint(readTexts(message['content'], `${path}.content`, losses), message),
        } as const;
        if (turns.length === 0) instructions.push(instruction);
        else turns.push(instruction);
        return;
      }
      case 'user': {
        const parts = withBreakpoint(readUserParts(message['content'], `${path}.content`, losses), message);
        if (open) for (const part of parts) open.push(part);
        else turns.push({ role, parts });
        return;
      }
      case 'assistant':
        turns.push({ role, parts: withBreakpoint(readAssistantParts(message, path, losses), message) });
        return;
      case 'function':
        losses.lose('functionCall', `${path}.role`);
        return;
      default:
        throw new BodyError(
          `${path}.role must be system, developer, user, assistant or tool.`,
          `${path}.role`,
        );
    }
  });
  return { instructions, turns };
}

function readTexts(content: unknown, path: string, losses: Losses): readonly TextPart[] {
  return readUserParts(content, path, losses).map((part) => {
    if (part.type !== 'text') throw new BodyError(`${path} must be text.`, path);
    return part;
  });
}

function readResult(message: JsonObject, path: string, losses: Losses): UserPart {
  const parts: readonly ResultPart[] = readUserParts(message['content'], `${path}.content`, losses);
  return {
    type: 'toolResult',
    callId: requireText(message['tool_call_id'], `${path}.tool_call_id`),
    parts,
    ...readCacheControl(message),
  };
}

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

/** The parts of a message of a user, an instructor or a tool: a text, or a list. Empty texts say nothing and are left out. */
export function readUserParts(content: unknown, path: string, losses: Losses): readonly ResultPart[] {
  return contentList(content, path).flatMap((part, index) => {
    const read = readPart(part, `${path}[${index}]`, losses);
    return read.type === 'text' && read.text === '' ? [] : [read];
  });
}

/** The parts of a content, whatever form it has. */
function contentList(content: unknown, path: string): readonly JsonObject[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw new BodyError(`${path} must be a string or a list of parts.`, path);
  return content.map((part, index) => requireObject(part, `${path}[${index}]`));
}

export function readText(part: JsonObject, path: string): TextPart {
  return {
    type: 'text',
    text: requireText(part['text'], `${path}.text`),
    ...readCacheControl(part),
  };
}

function readPart(part: JsonObject, path: string, losses: Losses): ResultPart {
  switch (part['type']) {
    case 'text':
      return readText(part, path);
    case 'image_url':
      return readImage(part, path);
    case 'file':
      return readFile(part, path, losses);
    default:
      losses.lose('audioInput', path);
      throw new BodyError(`${path}.type is not known.`, `${path}.type`);
  }
}

function readImage(part: JsonObject, path: string): ImagePart {
  const image = requireObject(part['image_url'], `${path}.image_url`);
  return {
    type: 'image',
    source: sourceOfUrl(requireText(image['url'], `${path}.image_url.url`)),
    ...defined({ detail: optionalText(image, 'detail', `${path}.image_url.detail`) }),
    ...readCacheControl(part),
  };
}

function readFile(part: JsonObject, path: string, losses: Losses): DocumentPart {
  const file = requireObject(part['file'], `${path}.file`);
  const data = optionalText(file, 'file_data', `${path}.file.file_data`);
  if (data === undefined) {
    losses.lose('fileId', `${path}.file`);
    throw new BodyError(`${path}.file.file_data must be a string.`, `${path}.file.file_data`);
  }
  return {
    type: 'document',
    source: documentSource(data),
    ...defined({ name: optionalText(file, 'filename', `${path}.file.filename`) }),
    ...readCacheControl(part),
  };
}
