import type { JsonObject } from '../../wire/json.ts';
import type { ReasoningSeal, ToolKind } from '../translation/conversation.ts';
import type { TranslationNotes } from '../translation/notes.ts';
import { inputOfText } from '../translation/tool-input.ts';
import { ownSuffix } from './own-items.ts';
import { TOOL_SEARCH } from './read-tools.ts';
import { encryptedContent } from './reasoning.ts';
import { idSuffix } from './response-object.ts';

// The items of a response's output, at the beginning (empty, in progress) and at the end.

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';
/** How a call goes back: as a function's, a custom tool's, or as a search for tools. */
export type CallForm = ToolKind | 'search';
type ItemKind = 'message' | 'reasoning' | CallForm;

const PREFIXES: Readonly<Record<ItemKind, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function: 'fc',
  custom: 'ctc',
  search: 'tsc',
};

/** The same for the same place in the same answer, whole or streamed. */
export function itemId(kind: ItemKind, notes: TranslationNotes, outputIndex: number): string {
  const suffix = notes.itemSeed === undefined ? idSuffix(notes) : ownSuffix(notes.itemSeed);
  return `${PREFIXES[kind]}_${suffix}_${outputIndex}`;
}

export interface MessageContent {
  readonly type: 'text' | 'refusal';
  readonly text: string;
}

export function contentPart({ type, text }: MessageContent): JsonObject {
  return type === 'text'
    ? { type: 'output_text', text, annotations: [], logprobs: [] }
    : { type: 'refusal', refusal: text };
}

export function messageItem(id: string, status: ItemStatus, content: readonly MessageContent[]): JsonObject {
  return { id, type: 'message', status, role: 'assistant', content: content.map(contentPart) };
}

export function reasoningItem(id: string, text: string, seal: ReasoningSeal | undefined): JsonObject {
  const encrypted = seal && encryptedContent(seal);
  return {
    id,
    type: 'reasoning',
    summary: text === '' ? [] : [summaryPart(text)],
    ...(encrypted !== undefined && { encrypted_content: encrypted }),
  };
}

export function summaryPart(text: string): JsonObject {
  return { type: 'summary_text', text };
}

export interface Call {
  readonly kind: ToolKind;
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
}

export function formOf({ kind, name }: Pick<Call, 'kind' | 'name'>, notes: TranslationNotes): CallForm {
  return notes.hasToolSearch && kind === 'function' && name === TOOL_SEARCH ? 'search' : kind;
}

export function callItem(id: string, status: ItemStatus, call: Call, notes: TranslationNotes): JsonObject {
  const form = formOf(call, notes);
  if (form === 'search') {
    const query = inputOfText(call.arguments);
    return {
      id,
      type: 'tool_search_call',
      status,
      call_id: call.callId,
      execution: 'client',
      arguments: query,
    };
  }
  const { namespaces } = notes;
  const known = namespaces && Object.hasOwn(namespaces, call.name) ? namespaces[call.name] : undefined;
  const called = known ? { name: known.name, namespace: known.namespace } : { name: call.name };
  return form === 'function'
    ? { id, type: 'function_call', status, call_id: call.callId, ...called, arguments: call.arguments }
    : { id, type: 'custom_tool_call', status, call_id: call.callId, ...called, input: call.arguments };
}
