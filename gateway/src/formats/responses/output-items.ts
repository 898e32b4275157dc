import type { JsonObject } from '../../wire/json.ts';
import { parseBounded } from '../translation/bounded-json.ts';
import type { ReasoningSeal, ToolKind } from '../translation/conversation.ts';
import { inputOfText } from '../translation/tool-input.ts';
import type { TranslationNotes } from '../translation/translator.ts';
import { ownSuffix } from './own-items.ts';
import { TOOL_SEARCH } from './read-tools.ts';
import { encryptedContent } from './reasoning.ts';
import { idSuffix } from './response-object.ts';

// The items of a response's output, at the beginning (empty, in progress) and at the end.

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';
/** How a call goes back: as a function's, a custom tool's, or as a search for tools. */
type CallForm = ToolKind | 'search';
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

interface Ended {
  readonly events: ItemEvent[];
  readonly item: JsonObject;
}

/** An item that has begun, and its place in the output. */
abstract class WrittenItem {
  readonly id: string;
  readonly outputIndex: number;

  constructor(id: string, outputIndex: number) {
    this.id = id;
    this.outputIndex = outputIndex;
  }

  /** The item as far as it has come. */
  protected abstract item(status: ItemStatus, seal?: ReasoningSeal): JsonObject;

  /** The events that end what is open in the item. */
  protected abstract endPart(): ItemEvent[];

  begin(): ItemEvent[] {
    return [this.#of('response.output_item.added', this.item('in_progress'))];
  }

  /** `seal` belongs to a reasoning. */
  end(status: ItemStatus, seal?: ReasoningSeal): Ended {
    const events = this.endPart();
    const item = this.item(status, seal);
    return { events: [...events, this.#of('response.output_item.done', item)], item };
  }

  /** An event within the item. */
  protected at(type: string, members: JsonObject): ItemEvent {
    return { type, item_id: this.id, output_index: this.outputIndex, ...members };
  }

  #of(type: string, item: JsonObject): ItemEvent {
    return { type, output_index: this.outputIndex, item };
  }
}

/** One text, or one refusal after another, in the same message. */
export class OpenMessage extends WrittenItem {
  readonly #ended: MessageContent[] = [];
  #current: { readonly type: MessageContent['type']; text: string } | undefined;

  add(type: MessageContent['type'], text: string): ItemEvent[] {
    const events: ItemEvent[] = [];
    if (this.#current?.type !== type) {
      events.push(...this.endPart());
      this.#current = { type, text: '' };
      events.push(this.#within('response.content_part.added', { part: contentPart(this.#current) }));
    }
    this.#current.text += text;
    events.push(
      type === 'text'
        ? this.#within('response.output_text.delta', { delta: text, logprobs: [] })
        : this.#within('response.refusal.delta', { delta: text }),
    );
    return events;
  }

  protected endPart(): ItemEvent[] {
    const part = this.#current;
    if (!part) return [];
    const done =
      part.type === 'text'
        ? this.#within('response.output_text.done', { text: part.text, logprobs: [] })
        : this.#within('response.refusal.done', { refusal: part.text });
    const events = [done, this.#within('response.content_part.done', { part: contentPart(part) })];
    this.#ended.push(part);
    this.#current = undefined;
    return events;
  }

  protected item(status: ItemStatus): JsonObject {
    return messageItem(this.id, status, this.#ended);
  }

  #within(type: string, members: JsonObject): ItemEvent {
    return this.at(type, { content_index: this.#ended.length, ...members });
  }
}

/** A reasoning, whose text is its summary. */
export class OpenReasoning extends WrittenItem {
  #text = '';

  add(text: string): ItemEvent[] {
    const isFirst = this.#text === '';
    this.#text += text;
    return [
      ...(isFirst ? [this.#within('part.added', { part: summaryPart('') })] : []),
      this.#within('text.delta', { delta: text }),
    ];
  }

  protected endPart(): ItemEvent[] {
    if (this.#text === '') return [];
    return [
      this.#within('text.done', { text: this.#text }),
      this.#within('part.done', { part: summaryPart(this.#text) }),
    ];
  }

  protected item(_status: ItemStatus, seal?: ReasoningSeal): JsonObject {
    return reasoningItem(this.id, this.#text, seal);
  }

  #within(type: string, members: JsonObject): ItemEvent {
    return this.at(`response.reasoning_summary_${type}`, { summary_index: 0, ...members });
  }
}

/** A call of a function or of a custom tool. */
export class OpenCall extends WrittenItem {
  readonly #notes: TranslationNotes;
  readonly #call: Omit<Call, 'arguments'>;
  readonly #form: CallForm;
  #arguments = '';

  constructor(id: string, outputIndex: number, call: Omit<Call, 'arguments'>, notes: TranslationNotes) {
    super(id, outputIndex);
    this.#notes = notes;
    this.#call = call;
    this.#form = formOf(call, notes);
  }

  get isWhole(): boolean {
    return this.#call.kind === 'custom' || parseBounded(this.#arguments) !== undefined;
  }

  add(text: string): ItemEvent[] {
    this.#arguments += text;
    if (this.#form === 'search') return [];
    return [this.at(`response.${CALL_PIECES[this.#form]}.delta`, { delta: text })];
  }

  protected endPart(): ItemEvent[] {
    if (this.#form === 'search') return [];
    const text = this.#arguments;
    const { name } = this.item('completed');
    const members = this.#form === 'function' ? { arguments: text, name } : { input: text };
    return [this.at(`response.${CALL_PIECES[this.#form]}.done`, members)];
  }

  protected item(status: ItemStatus): JsonObject {
    return callItem(this.id, status, { ...this.#call, arguments: this.#arguments }, this.#notes);
  }
}

const CALL_PIECES = { function: 'function_call_arguments', custom: 'custom_tool_call_input' } as const;
