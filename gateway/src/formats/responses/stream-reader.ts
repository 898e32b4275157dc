import type { ReadExact } from '../../wire/exact-json.ts';
import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { readUsage } from '../peculiarities/usage-names.ts';
import { CallIds } from '../translation/call-ids.ts';
import type { TranslationNotes } from '../translation/notes.ts';
import { streamErrorOf } from '../translation/stream-error.ts';
import type { StreamError, StreamEvent, StreamReader } from '../translation/stream-events.ts';
import { textOf } from './provider-values.ts';
import { argumentsOf, callIdOf, hasObjectArguments, stopOf } from './read-answer.ts';
import { SUMMARY_BREAK, sealOf, shownReasoning } from './reasoning.ts';

/** Items of one answer that are told apart. Models call some dozen tools at once at most. */
export const MAX_ITEMS = 4096;
const ITEM_BYTES = 128;

const TOO_MANY: StreamError = {
  message: `The provider's answer has more than ${MAX_ITEMS} items.`,
  kind: 'server_error',
};

/** The state of an item of the output that has begun. Its text is not kept. */
interface OpenItem {
  /** The number of a call among the calls. */
  readonly call?: number;
  /** True if some of its text has come: what repeats it at the end is passed over then. */
  hasText: boolean;
  /** The part of a reasoning's summary, or of its content, that came last. */
  part?: number;
  isEnded: boolean;
}

/**
 * Reads the events of a streamed response. Some servers leave out the deltas, or the items' beginnings, or all but the
 * last event: whatever comes first is read, and what repeats it is not.
 */
export class ResponsesStreamReader implements StreamReader {
  // By the place in the output, or the item's id where a server does not say it.
  readonly #items = new Map<unknown, OpenItem>();
  readonly #ids: CallIds;
  #calls = 0;
  #hasBegun = false;
  #hasRefusal = false;
  #isFinished = false;
  #hasFailed = false;

  constructor(notes: TranslationNotes) {
    this.#ids = new CallIds(notes);
  }

  get keptBytes(): number {
    return this.#items.size * ITEM_BYTES;
  }

  read(event: string, data: unknown, exact: ReadExact): StreamEvent[] {
    if (this.#hasFailed || this.#isFinished || !isJsonObject(data)) return [];
    const events = this.#read(textOf(data['type']) || event, hasObjects(data) ? exact() : data);
    if (this.#items.size > MAX_ITEMS) return this.#fail(TOO_MANY);
    if (events.length === 0) return events;
    if (this.#hasBegun) return events;
    this.#hasBegun = true;
    return events[0]?.type === 'begin' ? events : [{ type: 'begin', id: '', model: '' }, ...events];
  }

  end(): StreamEvent[] {
    return [];
  }

  #read(type: string, data: JsonObject): StreamEvent[] {
    switch (type) {
      case 'response.created':
      case 'response.in_progress':
        return this.#begin(data['response']);
      case 'response.output_item.added':
        return this.#addItem(data);
      case 'response.content_part.added':
        return this.#isLaterPart(data, 'content_index') ? [{ type: 'break' }] : [];
      case 'response.output_text.delta':
        return this.#delta(data, 'text');
      case 'response.refusal.delta':
        return this.#delta(data, 'refusal');
      case 'response.reasoning_summary_text.delta':
        return this.#reasoningDelta(data, 'summary_index');
      case 'response.reasoning_text.delta':
        return this.#reasoningDelta(data, 'content_index');
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return this.#argumentsDelta(data, textOf(data['delta']));
      case 'response.output_item.done':
        return this.#endItem(data);
      case 'response.completed':
      case 'response.incomplete':
        return this.#finish(data['response']);
      case 'response.failed': {
        const { response } = data;
        return this.#fail(streamErrorOf(isJsonObject(response) ? response['error'] : undefined));
      }
      case 'error': {
        const { error, code, message } = data;
        return this.#fail(streamErrorOf(isJsonObject(error) ? error : { code, message }));
      }
      default:
        return [];
    }
  }

  #begin(response: unknown): StreamEvent[] {
    if (this.#hasBegun || !isJsonObject(response)) return [];
    const { service_tier: tier, created_at: createdAt } = response;
    return [
      {
        type: 'begin',
        id: textOf(response['id']),
        model: textOf(response['model']),
        ...(Number.isSafeInteger(createdAt) && { createdSeconds: createdAt as number }),
        ...(typeof tier === 'string' && { serviceTier: tier }),
      },
    ];
  }

  #item(data: JsonObject): OpenItem | undefined {
    return this.#items.get(keyOf(data));
  }

  #addItem(data: JsonObject): StreamEvent[] {
    const { item } = data;
    if (!isJsonObject(item) || this.#item(data)) return [];
    const kind = callKind(item);
    if (!kind) {
      this.#items.set(keyOf(data), { hasText: false, isEnded: false });
      return [];
    }
    const index = this.#calls++;
    this.#items.set(keyOf(data), { call: index, hasText: false, isEnded: false });
    const text = argumentsOf(item);
    return [
      { type: 'toolCall', index, id: this.#ids.give(callIdOf(item)), kind, name: textOf(item['name']) },
      ...(text === '' ? [] : this.#argumentsDelta(data, text)),
    ];
  }

  #open(data: JsonObject): OpenItem {
    const found = this.#item(data);
    if (found) return found;
    const item: OpenItem = { hasText: false, isEnded: false };
    this.#items.set(keyOf(data), item);
    return item;
  }

  #delta(data: JsonObject, type: 'text' | 'refusal'): StreamEvent[] {
    const text = textOf(data['delta']);
    if (text === '') return [];
    const item = this.#open(data);
    if (item.isEnded) return [];
    item.hasText = true;
    if (type === 'refusal') this.#hasRefusal = true;
    return [{ type, text }];
  }

  #reasoningDelta(data: JsonObject, indexName: 'summary_index' | 'content_index'): StreamEvent[] {
    const text = textOf(data['delta']);
    if (text === '') return [];
    const item = this.#open(data);
    if (item.isEnded) return [];
    const index = data[indexName];
    const part = typeof index === 'number' ? index : 0;
    const isNextPart = item.hasText && item.part !== part;
    item.part = part;
    item.hasText = true;
    return [{ type: 'reasoning', text: isNextPart ? SUMMARY_BREAK + text : text }];
  }

  #argumentsDelta(data: JsonObject, text: string): StreamEvent[] {
    const item = this.#item(data);
    if (text === '' || item?.call === undefined || item.isEnded) return [];
    item.hasText = true;
    return [{ type: 'toolArguments', index: item.call, text }];
  }

  #isLaterPart(data: JsonObject, indexName: string): boolean {
    return this.#item(data)?.hasText === true && data[indexName] !== 0;
  }

  /** The item whole: all of it where nothing has come of it yet. */
  #endItem(data: JsonObject): StreamEvent[] {
    const { item } = data;
    if (!isJsonObject(item)) return [];
    const begun = this.#addItem(data);
    const open = this.#open(data);
    if (open.isEnded) return begun;
    const events = [...begun, ...this.#rest(data, item, open)];
    open.isEnded = true;
    return events;
  }

  #rest(data: JsonObject, item: JsonObject, open: OpenItem): StreamEvent[] {
    if (open.call !== undefined) {
      const text = open.hasText ? [] : this.#argumentsDelta(data, argumentsOf(item));
      return [...text, { type: 'toolCallEnd', index: open.call }];
    }
    if (item['type'] === 'message') {
      return [...(open.hasText ? [] : this.#messageParts(item['content'])), { type: 'break' }];
    }
    if (item['type'] !== 'reasoning') return [];
    const shown = open.hasText ? '' : shownReasoning(item);
    const seal = sealOf(textOf(item['encrypted_content']), textOf(item['id']) || undefined);
    return [
      ...(shown === '' ? [] : [{ type: 'reasoning', text: shown } as const]),
      seal ? { type: 'seal', seal } : { type: 'break' },
    ];
  }

  #messageParts(content: unknown): StreamEvent[] {
    if (!Array.isArray(content)) return [];
    return content.flatMap((part: unknown, index): StreamEvent[] => {
      if (!isJsonObject(part)) return [];
      const isRefusal = part['type'] === 'refusal';
      const text = textOf(part[isRefusal ? 'refusal' : 'text']);
      if (text === '') return [];
      if (isRefusal) this.#hasRefusal = true;
      const said: StreamEvent = { type: isRefusal ? 'refusal' : 'text', text };
      return index === 0 ? [said] : [{ type: 'break' }, said];
    });
  }

  #finish(response: unknown): StreamEvent[] {
    if (!isJsonObject(response)) return [];
    const output: readonly unknown[] = Array.isArray(response['output']) ? response['output'] : [];
    // Where nothing was streamed, the answer is in here.
    const items =
      this.#items.size > 0
        ? []
        : output
            .slice(0, MAX_ITEMS + 1)
            .flatMap((item, index) => this.#endItem({ output_index: index, item }));
    const begun = this.#begin(response);
    const usage = readUsage(response['usage']);
    const stop = stopOf(response, { hasCalls: this.#calls > 0, hasRefusal: this.#hasRefusal });
    this.#isFinished = true;
    return [
      ...begun,
      ...items,
      { type: 'finish', stop },
      ...(usage ? [{ type: 'usage', usage } as const] : []),
    ];
  }

  #fail(error: StreamError): StreamEvent[] {
    this.#hasFailed = true;
    const begun: StreamEvent[] = this.#hasBegun ? [] : [{ type: 'begin', id: '', model: '' }];
    this.#hasBegun = true;
    return [...begun, { type: 'error', error }];
  }
}

function keyOf(data: JsonObject): unknown {
  const { item_id: id, item, output_index: index } = data;
  if (typeof index === 'number') return index;
  return typeof id === 'string' ? id : isJsonObject(item) ? textOf(item['id']) : '';
}

/** True if the event holds arguments as an object, whose numbers are read once more. */
function hasObjects({ item, response }: JsonObject): boolean {
  if (hasObjectArguments(item)) return true;
  const output: unknown = isJsonObject(response) ? response['output'] : undefined;
  return Array.isArray(output) && output.some(hasObjectArguments);
}

function callKind(item: JsonObject): 'function' | 'custom' | undefined {
  if (item['type'] === 'function_call') return 'function';
  return item['type'] === 'custom_tool_call' ? 'custom' : undefined;
}
