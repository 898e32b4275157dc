import { isJsonObject, type JsonObject, textOf } from '../../wire/json.ts';
import type { Usage } from '../protocol.ts';
import { CallIds } from '../translation/call-ids.ts';
import type { NeutralEvents, StreamError, StreamEvent } from '../translation/stream-events.ts';
import { MAX_ITEMS, type OpenItem, type OpenItems } from './items.ts';
import { argumentsOf, beginningOf, callIdOf, messageParts, stopOf } from './read-answer.ts';
import { SUMMARY_BREAK, sealOf, shownReasoning } from './reasoning.ts';

const TOO_MANY: StreamError = {
  message: `The provider's answer has more than ${MAX_ITEMS} items.`,
  kind: 'server_error',
};

/**
 * The neutral events of a streamed response. Some servers leave out the deltas, or the items' beginnings, or all but the
 * last event: whatever comes first is told, and what repeats it is not.
 */
export class ResponsesToNeutral {
  readonly #translated: NeutralEvents;
  readonly #ids: CallIds;
  /** The calls that have begun, by the provider's ids. */
  readonly #begun = new Map<string, OpenItem>();
  /** The types of the items that were told. */
  readonly #told = new Set<unknown>();
  #calls = 0;
  #hasBegun = false;
  #hasRefusal = false;
  #isOver = false;

  constructor(translated: NeutralEvents) {
    this.#translated = translated;
    this.#ids = new CallIds(translated.notes);
  }

  begin(response: JsonObject): void {
    if (this.#hasBegun || this.#isOver) return;
    this.#hasBegun = true;
    this.#translated.add({ type: 'begin', ...beginningOf(response) });
  }

  /** An item begins. Some servers give several the same place. */
  addItem(open: OpenItem, item: JsonObject): void {
    const isAnotherCall = open.isBegun && this.#begun.get(callIdOf(item)) !== open;
    if (callKind(item) ? isAnotherCall : open.isEnded) {
      Object.assign(open, { hasDeltas: false, isBegun: false, isTold: false, isEnded: false });
      delete open.call;
    }
    this.beginItem(open, item);
  }

  beginItem(open: OpenItem, item: JsonObject): void {
    const kind = callKind(item);
    if (open.isBegun || this.#isOver || !kind) return;
    open.isBegun = true;
    const index = this.#calls++;
    open.call = index;
    this.#begun.set(callIdOf(item), open);
    const id = this.#ids.give(callIdOf(item));
    this.#tell({ type: 'toolCall', index, id, kind, name: textOf(item['name']) });
    this.#tellArguments(open, argumentsOf(item));
  }

  /** A part of an item that follows another is one of its own. */
  beginPart(open: OpenItem | undefined, index: unknown): void {
    if (open?.isTold && index !== 0) this.#tell({ type: 'break' });
  }

  /** A piece of a text. */
  say(type: string, data: JsonObject, item: OpenItem, text: string): void {
    if (item.isEnded) return;
    switch (type) {
      case 'response.output_text.delta':
        this.#tellText(item, { type: 'text', text });
        return;
      case 'response.refusal.delta':
        this.#hasRefusal = true;
        this.#tellText(item, { type: 'refusal', text });
        return;
      case 'response.reasoning_summary_text.delta':
        this.#tellReasoning(item, data['summary_index'], text);
        return;
      case 'response.reasoning_text.delta':
      // Hugging Face, and what follows the Open Responses specification.
      case 'response.reasoning.delta':
        this.#tellReasoning(item, data['content_index'], text);
        return;
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        this.#tellArguments(item, text);
    }
  }

  /** The item whole: all of it where nothing has come of it yet. */
  endItem(open: OpenItem, item: JsonObject): void {
    this.beginItem(open, item);
    if (!open.isEnded) this.#tellRest(open, item);
    open.isEnded = true;
    this.#told.add(item['type']);
  }

  finish(response: JsonObject, items: OpenItems, usage: Usage | undefined): void {
    if (this.#isOver) return;
    this.begin(response);
    const output: readonly unknown[] = Array.isArray(response['output']) ? response['output'] : [];
    // What was not streamed is in here. By ids alone it cannot be told, because some servers change them.
    const [begun, told] = [new Map(this.#begun), new Set(this.#told)];
    const areCallsTold = output.filter((item) => callKind(item) !== undefined).length <= this.#calls;
    for (const [index, item] of output.slice(0, MAX_ITEMS + 1).entries()) {
      if (!isJsonObject(item)) continue;
      const known = callKind(item) && begun.get(callIdOf(item));
      if (!known && (callKind(item) ? areCallsTold : told.has(item['type']))) continue;
      const open = known ?? items.at({ item_id: `end ${index}` });
      if (!open) this.failOfItems();
      else this.endItem(open, item);
    }
    const stop = stopOf(response, { hasCalls: this.#calls > 0, hasRefusal: this.#hasRefusal });
    this.#tell({ type: 'finish', stop });
    if (usage) this.#tell({ type: 'usage', usage });
    this.#isOver = true;
  }

  failOfItems(): void {
    this.fail(TOO_MANY);
  }

  fail(error: StreamError): void {
    this.#tell({ type: 'error', error });
    this.#isOver = true;
  }

  #tell(event: StreamEvent): void {
    if (this.#isOver) return;
    if (!this.#hasBegun) this.#translated.add({ type: 'begin', id: '', model: '' });
    this.#hasBegun = true;
    this.#translated.add(event);
  }

  #tellText(item: OpenItem, event: StreamEvent): void {
    this.#told.add(event.type === 'reasoning' ? event.type : 'message');
    item.isBegun = true;
    item.isTold = true;
    this.#tell(event);
  }

  #tellReasoning(item: OpenItem, place: unknown, text: string): void {
    const part = typeof place === 'number' ? place : 0;
    const isNextPart = item.isTold && item.part !== part;
    item.part = part;
    this.#tellText(item, { type: 'reasoning', text: isNextPart ? SUMMARY_BREAK + text : text });
  }

  #tellArguments(item: OpenItem, text: string): void {
    if (text === '' || item.call === undefined) return;
    item.isTold = true;
    this.#tell({ type: 'toolArguments', index: item.call, text });
  }

  #tellRest(open: OpenItem, item: JsonObject): void {
    if (open.call !== undefined) {
      if (!open.isTold) this.#tellArguments(open, argumentsOf(item));
      this.#tell({ type: 'toolCallEnd', index: open.call });
      return;
    }
    if (item['type'] === 'message') {
      const parts = open.isTold ? [] : messageParts(item['content']);
      for (const [index, part] of parts.entries()) {
        if (index > 0) this.#tell({ type: 'break' });
        this.#hasRefusal ||= part.type === 'refusal';
        this.#tell(part);
      }
      this.#tell({ type: 'break' });
    }
    if (item['type'] !== 'reasoning') return;
    const shown = open.isTold ? '' : shownReasoning(item);
    const seal = sealOf(textOf(item['encrypted_content']), textOf(item['id']) || undefined);
    if (shown !== '') this.#tell({ type: 'reasoning', text: shown });
    this.#tell(seal ? { type: 'seal', seal } : { type: 'break' });
  }
}

/** The kind of a call; undefined for other items, and before its name is known. */
function callKind(item: unknown): 'function' | 'custom' | undefined {
  const type = isJsonObject(item) && textOf(item['name']) !== '' ? item['type'] : undefined;
  return type === 'function_call' ? 'function' : type === 'custom_tool_call' ? 'custom' : undefined;
}
