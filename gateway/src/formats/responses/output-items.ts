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

function contentPart({ type, text }: MessageContent): JsonObject {
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

// The items of a streamed response while they are written. Each says its events, in the order in which the Responses
// API has them; the stream's writer gives them their sequence numbers.

/** An event without its sequence number. */
export type ItemEvent = JsonObject & { readonly type: string };

/** One text, or one refusal after another, in the same message. */
export class OpenMessage {
  readonly id: string;
  readonly outputIndex: number;
  readonly #ended: MessageContent[] = [];
  #current: { readonly type: MessageContent['type']; text: string } | undefined;

  constructor(id: string, outputIndex: number) {
    this.id = id;
    this.outputIndex = outputIndex;
  }

  begin(): ItemEvent[] {
    return [added(this.outputIndex, messageItem(this.id, 'in_progress', []))];
  }

  add(type: MessageContent['type'], text: string): ItemEvent[] {
    const events: ItemEvent[] = [];
    if (this.#current?.type !== type) {
      events.push(...this.endPart());
      this.#current = { type, text: '' };
      events.push(this.#at('response.content_part.added', { part: contentPart(this.#current) }));
    }
    this.#current.text += text;
    events.push(
      type === 'text'
        ? this.#at('response.output_text.delta', { delta: text, logprobs: [] })
        : this.#at('response.refusal.delta', { delta: text }),
    );
    return events;
  }

  /** Ends the part: the next addition begins another. */
  endPart(): ItemEvent[] {
    const part = this.#current;
    if (!part) return [];
    const done =
      part.type === 'text'
        ? this.#at('response.output_text.done', { text: part.text, logprobs: [] })
        : this.#at('response.refusal.done', { refusal: part.text });
    const events = [done, this.#at('response.content_part.done', { part: contentPart(part) })];
    this.#ended.push(part);
    this.#current = undefined;
    return events;
  }

  end(status: ItemStatus): { readonly events: ItemEvent[]; readonly item: JsonObject } {
    const events = this.endPart();
    const item = messageItem(this.id, status, this.#ended);
    return { events: [...events, done(this.outputIndex, item)], item };
  }

  #at(type: string, members: JsonObject): ItemEvent {
    const place = { item_id: this.id, output_index: this.outputIndex, content_index: this.#ended.length };
    return { type, ...place, ...members };
  }
}

/** A reasoning, whose text is its summary. */
export class OpenReasoning {
  readonly id: string;
  readonly outputIndex: number;
  #text = '';

  constructor(id: string, outputIndex: number) {
    this.id = id;
    this.outputIndex = outputIndex;
  }

  begin(): ItemEvent[] {
    return [added(this.outputIndex, reasoningItem(this.id, '', undefined))];
  }

  add(text: string): ItemEvent[] {
    const events: ItemEvent[] = [];
    if (this.#text === '')
      events.push(this.#at('response.reasoning_summary_part.added', { part: summaryPart('') }));
    this.#text += text;
    events.push(this.#at('response.reasoning_summary_text.delta', { delta: text }));
    return events;
  }

  end(seal: ReasoningSeal | undefined): { readonly events: ItemEvent[]; readonly item: JsonObject } {
    const item = reasoningItem(this.id, this.#text, seal);
    const events =
      this.#text === ''
        ? []
        : [
            this.#at('response.reasoning_summary_text.done', { text: this.#text }),
            this.#at('response.reasoning_summary_part.done', { part: summaryPart(this.#text) }),
          ];
    return { events: [...events, done(this.outputIndex, item)], item };
  }

  #at(type: string, members: JsonObject): ItemEvent {
    return { type, item_id: this.id, output_index: this.outputIndex, summary_index: 0, ...members };
  }
}

/** A call of a function or of a custom tool. */
export class OpenCall {
  readonly id: string;
  readonly outputIndex: number;
  readonly #notes: TranslationNotes;
  readonly #call: Omit<Call, 'arguments'>;
  readonly #form: CallForm;
  #arguments = '';

  constructor(id: string, outputIndex: number, call: Omit<Call, 'arguments'>, notes: TranslationNotes) {
    this.id = id;
    this.outputIndex = outputIndex;
    this.#notes = notes;
    this.#call = call;
    this.#form = formOf(call, notes);
  }

  begin(): ItemEvent[] {
    return [added(this.outputIndex, this.#item('in_progress'))];
  }

  add(text: string): ItemEvent[] {
    this.#arguments += text;
    switch (this.#form) {
      case 'function':
        return [this.#at('response.function_call_arguments.delta', { delta: text })];
      case 'custom':
        return [this.#at('response.custom_tool_call_input.delta', { delta: text })];
      case 'search':
        return [];
    }
  }

  end(status: ItemStatus): { readonly events: ItemEvent[]; readonly item: JsonObject } {
    const item = this.#item(status);
    return { events: [...this.#ended(item), done(this.outputIndex, item)], item };
  }

  #ended({ name }: JsonObject): ItemEvent[] {
    const text = this.#arguments;
    switch (this.#form) {
      case 'function':
        return [this.#at('response.function_call_arguments.done', { arguments: text, name })];
      case 'custom':
        return [this.#at('response.custom_tool_call_input.done', { input: text })];
      case 'search':
        return [];
    }
  }

  #item(status: ItemStatus): JsonObject {
    return callItem(this.id, status, { ...this.#call, arguments: this.#arguments }, this.#notes);
  }

  #at(type: string, members: JsonObject): ItemEvent {
    return { type, item_id: this.id, output_index: this.outputIndex, ...members };
  }
}

function added(outputIndex: number, item: JsonObject): ItemEvent {
  return { type: 'response.output_item.added', output_index: outputIndex, item };
}

function done(outputIndex: number, item: JsonObject): ItemEvent {
  return { type: 'response.output_item.done', output_index: outputIndex, item };
}
