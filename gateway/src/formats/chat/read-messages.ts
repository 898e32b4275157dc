import { defined, isJsonObject } from '../../wire/json.ts';
import type { BodyObject } from '../translation/body-object.ts';
import type {
  AssistantPart,
  Conversation,
  DocumentPart,
  ImagePart,
  ResultPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from '../translation/conversation.ts';
import {
  documentSource,
  imageSource,
  readCacheControl,
  withBreakpoint,
} from '../translation/part-members.ts';
import { objectArguments, textOfInput } from '../translation/tool-input.ts';
import { Turns } from '../translation/turns.ts';
import { isThought, REASONING_MEMBERS } from './pieces.ts';
import { readReasoning } from './reasoning.ts';

/** Members that are read, and those of an answer that clients send back with it. */
const MESSAGE_MEMBERS = new Set([
  ...['role', 'name', 'content', 'refusal', 'tool_calls', 'tool_call_id', 'function_call', 'audio'],
  ...[...REASONING_MEMBERS, 'reasoning_details', 'annotations', 'is_error', 'cache_control'],
]);

/** The messages as instructions and turns. */
export function readMessages(body: BodyObject): Pick<Conversation, 'instructions' | 'turns'> {
  const read = new Turns();
  for (const message of body.objects('messages')) readMessage(message, read);
  return read;
}

function readMessage(message: BodyObject, read: Turns): void {
  const role = message.text('role');
  message.loseOthers(MESSAGE_MEMBERS, 'messages[]');
  if (message.optionalText('name') !== undefined && role !== 'tool') message.lose('participantNames', 'name');
  switch (role) {
    case 'system':
    case 'developer':
      read.instruct({ role, parts: withBreakpoint(readTexts(message), message) });
      break;
    case 'user': {
      const results = message.content('parts').filter(isResult);
      for (const part of results) read.answer(readResult(part, part.text('tool_use_id')));
      const parts = withBreakpoint(readParts(message), message);
      if (parts.length > 0 || results.length === 0) read.user(parts);
      break;
    }
    case 'assistant':
      read.assistant(withBreakpoint(readAssistantParts(message), message));
      break;
    case 'tool':
      read.answer(readResult(message, message.text('tool_call_id')));
      break;
    case 'function':
      message.lose('functionCall', 'role');
      break;
    default:
      throw message.error('role', 'must be system, developer, user, assistant or tool.');
  }
}

// Cursor sends calls and results of tools as Anthropic has them to models that have claude in their name, and the tools too. LangChain keeps
// a call as both have it.

function isResult({ value: { type } }: BodyObject): boolean {
  return type === 'tool_result';
}

function readResult(holder: BodyObject, callId: string): ToolResultPart {
  const isError = holder.optionalBoolean('is_error') === true;
  const parts = readParts(holder);
  return { type: 'toolResult', callId, parts, ...(isError && { isError }), ...readCacheControl(holder) };
}

function readTexts(message: BodyObject): readonly TextPart[] {
  return readParts(message).map((part) => {
    if (part.type !== 'text') throw message.error('content', 'must be text.');
    return part;
  });
}

/** The parts of an assistant's message of a caller, in the order that other formats give it. */
function readAssistantParts(message: BodyObject): AssistantPart[] {
  if (message.has('function_call')) message.lose('functionCall', 'function_call');
  if (message.has('audio')) message.lose('audioInput', 'audio');
  const parts: AssistantPart[] = [...readReasoning(message.value)];
  const calls = Array.from(message.optionalObjects('tool_calls'), readCall);
  for (const part of message.content('parts')) {
    const { type, text } = part.value;
    // It was read above.
    if (isThought(part.value)) continue;
    if (type === 'tool_use') {
      if (!calls.some(({ id }) => id === part.value['id'])) parts.push(readToolUse(part));
    } else if (type === 'refusal') addRefusal(parts, part.text('refusal'));
    else if (type !== 'text') part.lose('audioInput');
    else if (text !== '') parts.push(readText(part));
  }
  addRefusal(parts, message.optionalText('refusal'));
  return [...parts, ...calls];
}

function readToolUse(part: BodyObject): ToolCallPart {
  const input = textOfInput(part.optionalObject('input')?.value);
  return {
    type: 'toolCall',
    id: part.text('id'),
    kind: 'function',
    name: part.text('name'),
    arguments: input,
  };
}

function addRefusal(parts: AssistantPart[], text: string | undefined): void {
  if (text !== undefined && text !== '') parts.push({ type: 'refusal', text });
}

function readCall(call: BodyObject): ToolCallPart {
  // Another provider's: only its maker can read it.
  if (isJsonObject(call.value['extra_content'])) call.lose('extraContent', 'extra_content');
  const isCustom = isJsonObject(call.value['custom']);
  const id = call.text('id');
  const called = call.object(isCustom ? 'custom' : 'function');
  const input = isCustom ? 'input' : 'arguments';
  return {
    type: 'toolCall',
    id,
    kind: isCustom ? 'custom' : 'function',
    name: called.text('name'),
    arguments: objectArguments(called, input) ?? called.optionalText(input) ?? '',
    ...(!isCustom && readCacheControl(call)),
  };
}

/** The parts of a message of a user, an instructor or a tool: a text, or a list. Empty texts say nothing and are left out. */
function readParts(message: BodyObject): readonly ResultPart[] {
  const parts = message
    .content('parts')
    .filter((part) => !isResult(part))
    .map(readPart);
  return parts.filter((part) => part.type !== 'text' || part.text !== '');
}

function readPart(part: BodyObject): ResultPart {
  switch (part.value['type']) {
    case 'text':
      return readText(part);
    case 'image_url':
      return readImage(part);
    case 'file':
      return readFile(part);
    default:
      part.lose('audioInput');
      throw part.error('type', 'is not known.');
  }
}

function readText(part: BodyObject): TextPart {
  return { type: 'text', text: part.text('text'), ...readCacheControl(part) };
}

function readImage(part: BodyObject): ImagePart {
  const { image_url: image } = part.value;
  return {
    type: 'image',
    source: imageSource(part),
    ...(isJsonObject(image) && defined({ detail: part.object('image_url').optionalText('detail') })),
    ...readCacheControl(part),
  };
}

function readFile(part: BodyObject): DocumentPart {
  const file = part.object('file');
  if (!file.has('file_data')) part.lose('fileId', 'file');
  return {
    type: 'document',
    source: documentSource(file.text('file_data')),
    ...defined({ name: file.optionalText('filename') }),
    ...readCacheControl(part),
  };
}
