import { defined } from '../../wire/json.ts';
import { BodyError } from '../call.ts';
import type { BodyObject } from '../translation/body-object.ts';
import type {
  DocumentPart,
  ImagePart,
  Instruction,
  RefusalPart,
  ResultPart,
  TextPart,
  ToolCallPart,
  ToolKind,
} from '../translation/conversation.ts';
import { documentSource, imageSource, readCacheControl } from '../translation/part-members.ts';
import { objectArguments } from '../translation/tool-input.ts';
import { Turns } from '../translation/turns.ts';
import { type FlatNames, namesOfFound, TOOL_SEARCH } from './read-tools.ts';
import { REASONING_ID, readReasoning } from './reasoning.ts';

const ROLES = ['user', 'assistant', 'system', 'developer'] as const;

/** Calls that the provider itself carried out, whose words are in the answer that follows. */
const HOSTED_CALLS = new Set(['web_search_call', 'file_search_call', 'mcp_call', 'mcp_list_tools']);
const MESSAGE_MEMBERS = new Set(['type', 'id', 'status', 'role', 'content']);
/** The members by which a client's shell is asked to do something. */
const SHELL_MEMBERS = ['command', 'env', 'timeout_ms', 'user', 'working_directory'] as const;

/** The items of a request's input, as turns. `instructions` are the request's own, which stand before them. */
export function readInput(
  items: readonly BodyObject[],
  instructions: readonly Instruction[],
  names: FlatNames,
): Turns {
  const read = new Turns(instructions);
  for (const item of items) readItem(item, names, read);
  return read;
}

function readItem(item: BodyObject, names: FlatNames, read: Turns): void {
  const type = item.value['type'] ?? 'message';
  switch (type) {
    case 'message':
      readMessage(item, read);
      break;
    case 'reasoning':
      for (const part of readReasoning(item)) read.say(part);
      break;
    case 'function_call':
      read.say(
        readCall(item, 'function', objectArguments(item, 'arguments') ?? item.text('arguments'), names),
      );
      break;
    case 'custom_tool_call':
      read.say(readCall(item, 'custom', item.text('input'), names));
      break;
    case 'tool_search_call':
      readSearch(item, read);
      break;
    case 'tool_search_output':
      readFound(item, names, read);
      break;
    case 'local_shell_call':
      read.say(readShellCall(item));
      break;
    case 'function_call_output':
    case 'custom_tool_call_output':
      readResult(item, item.text('call_id'), read);
      break;
    case 'local_shell_call_output': {
      const { id } = item.value;
      const callId = !item.has('call_id') && typeof id === 'string' ? id : item.text('call_id');
      readResult(item, callId, read);
      break;
    }
    case 'item_reference':
      // Nothing is stored that it could refer to. Without its reasoning a conversation says the same.
      if (item.text('id').startsWith(REASONING_ID))
        item.losses.lose('reasoningText', 'input[item_reference]');
      else item.lose('itemReferences');
      break;
    case 'additional_tools':
      // They are declared, as readTools has read them.
      break;
    default: {
      const named = item.text('type');
      if (HOSTED_CALLS.has(named)) item.losses.lose('hostedCalls', `input[${named}]`);
      else item.lose('otherItems');
    }
  }
}

function readMessage(item: BodyObject, read: Turns): void {
  const role = item.oneOf('role', ROLES);
  item.loseOthers(MESSAGE_MEMBERS, 'input');
  if (role === 'assistant') {
    const parts = readAssistantParts(item);
    read.endMessage();
    for (const part of parts) read.say(part);
  } else if (role === 'user') read.user(readParts(item, 'content'));
  else read.instruct({ role, parts: readTexts(item, 'content') });
}

function readCall(item: BodyObject, kind: ToolKind, text: string, names: FlatNames): ToolCallPart {
  const namespace = item.optionalText('namespace');
  const name = names.of(namespace, item.text('name'));
  return { type: 'toolCall', id: item.text('call_id'), kind, name, arguments: text };
}

function readResult(item: BodyObject, callId: string, read: Turns): void {
  read.answer({ type: 'toolResult', callId, parts: readParts(item, 'output') });
}

/** A search that the provider ran is none of the caller's calls. */
function readSearch(item: BodyObject, read: Turns): void {
  const id = item.optionalText('call_id');
  if (id === undefined) {
    item.losses.lose('hostedCalls', 'input[tool_search_call]');
    return;
  }
  const { arguments: query } = item.value;
  const text = typeof query === 'string' ? query : JSON.stringify(query ?? {});
  read.say({ type: 'toolCall', id, kind: 'function', name: TOOL_SEARCH, arguments: text });
}

/** The tools themselves are declared, as readTools has read them. */
function readFound(item: BodyObject, names: FlatNames, read: Turns): void {
  const callId = item.optionalText('call_id');
  if (callId === undefined) return;
  const found = namesOfFound(item, names);
  const text =
    found.length === 0 ? 'No tools were found.' : `These tools can be called now: ${found.join(', ')}`;
  read.answer({ type: 'toolResult', callId, parts: [{ type: 'text', text }] });
}

/** A call of the shell that the client runs; its arguments are those that the other formats know it by. */
function readShellCall(item: BodyObject): ToolCallPart {
  const action = item.object('action');
  const stated = SHELL_MEMBERS.filter((name) => action.has(name)).map((name) => [name, action.value[name]]);
  return {
    type: 'toolCall',
    id: item.text('call_id'),
    kind: 'function',
    name: 'local_shell',
    arguments: JSON.stringify(Object.fromEntries(stated)),
  };
}

/** The parts of a message of the user, the instructions or a tool: a string, or a list. Empty texts say nothing. */
function readParts(holder: BodyObject, name: string): ResultPart[] {
  const { [name]: value } = holder.value;
  const parts: ResultPart[] =
    typeof value === 'string'
      ? [{ type: 'text', text: value }]
      : Array.from(holder.objects(name), (part) => readPart(part));
  return parts.filter((part) => part.type !== 'text' || part.text !== '');
}

/** The same where only text has a place. */
function readTexts(holder: BodyObject, name: string): TextPart[] {
  return readParts(holder, name).map((part) => {
    if (part.type !== 'text') throw holder.error(name, 'must be text.');
    return part;
  });
}

/** The parts of an assistant's message. */
function readAssistantParts(message: BodyObject): (TextPart | RefusalPart)[] {
  if (typeof message.value['content'] === 'string') return readTexts(message, 'content');
  return Array.from(message.objects('content')).flatMap((part): (TextPart | RefusalPart)[] => {
    if (part.value['type'] === 'refusal') return [{ type: 'refusal', text: part.text('refusal') }];
    const { annotations } = part.value;
    if (Array.isArray(annotations) && annotations.length > 0)
      part.losses.lose('citations', 'input.content.annotations');
    const read = readPart(part);
    if (read.type !== 'text') throw new BodyError(`${part.path} must be text.`, part.path);
    return read.text === '' ? [] : [read];
  });
}

function readPart(part: BodyObject): ResultPart {
  const type = part.text('type');
  switch (type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: part.text('text'), ...readCacheControl(part) };
    case 'input_image':
      return readImage(part);
    case 'input_file':
      return readFile(part);
    case 'input_audio':
      return unavailable('audioInput', part, type);
    default:
      throw new BodyError(
        `${part.path} is of the type ${type.slice(0, 64).toWellFormed()}, which is not known here.`,
        part.path,
      );
  }
}

function readImage(part: BodyObject): ImagePart {
  if (!part.has('image_url')) return unavailable('fileId', part, 'file_id');
  return {
    type: 'image',
    source: imageSource(part),
    ...defined({ detail: part.optionalText('detail') }),
    ...readCacheControl(part),
  };
}

function readFile(part: BodyObject): DocumentPart {
  const data = part.optionalText('file_data');
  const url = part.optionalText('file_url');
  const named = { ...defined({ name: part.optionalText('filename') }), ...readCacheControl(part) };
  if (data !== undefined) return { type: 'document', source: documentSource(data), ...named };
  if (url !== undefined) return { type: 'document', source: { kind: 'url', url }, ...named };
  return unavailable('fileId', part, 'file_id');
}

/** Refuses a part of a feature that no other format can take: there is nothing to send in its place. */
function unavailable(feature: 'audioInput' | 'fileId', part: BodyObject, kind: string): never {
  part.lose(feature);
  throw new BodyError(
    `${part.path} must not be of the kind ${kind}: the model's provider cannot take it.`,
    part.path,
  );
}
