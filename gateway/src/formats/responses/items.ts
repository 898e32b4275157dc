import { isJsonObject, type JsonObject, textOf } from '../../wire/json.ts';

/** Items of one answer that are told apart. Models call some dozen tools at once at most. */
export const MAX_ITEMS = 4096;
const MAX_ID_LENGTH = 64;
const ITEM_BYTES = 192;
/** The event with which an item begins. Some servers give all items one id. */
const ADDED = 'response.output_item.added';

/** The state of an item of the output of a stream. Its text is not kept. */
export interface OpenItem {
  readonly key: string;
  /** True if its name has come, or some of its text: what repeats it is passed over then. */
  hasName: boolean;
  hasPieces: boolean;
  /** True if its text comes piece by piece. */
  hasDeltas: boolean;
  /** The number of a call among the calls. */
  call?: number;
  /** In a translation: what was told of it. */
  isBegun: boolean;
  isTold: boolean;
  isEnded: boolean;
  /** The part of a reasoning's summary, or of its content, that came last. */
  part?: number;
}

/** The items of a stream's output. */
export class OpenItems {
  readonly #items = new Map<string, OpenItem>();
  readonly #byId = new Map<string, OpenItem>();
  /** True if one did not find room. */
  areTooMany = false;

  get size(): number {
    return this.#items.size;
  }

  /** The bytes that it holds in memory. */
  get keptBytes(): number {
    return this.#items.size * ITEM_BYTES;
  }

  /**
   * The item that an event belongs to; undefined past the number that is kept. An event at a place where none began belongs to the one of
   * its id: some servers leave out the place in some events, or count it differently.
   */
  at(event: JsonObject): OpenItem | undefined {
    const key = keyOf(event);
    const id = itemIdOf(event);
    const existing = this.#items.get(key);
    if (existing) return existing;
    const named = event['type'] === ADDED ? undefined : this.#byId.get(id);
    if (named && !named.isEnded) return named;
    if (this.#items.size >= MAX_ITEMS) {
      this.areTooMany = true;
      return undefined;
    }
    const heard = { hasName: false, hasPieces: false, hasDeltas: false };
    const item: OpenItem = { key, ...heard, isBegun: false, isTold: false, isEnded: false };
    this.#items.set(key, item);
    if (id !== '') this.#byId.set(id, item);
    return item;
  }
}

/** The place in the output, or the id where a server does not say it: some give another id in every event. */
function keyOf(event: JsonObject): string {
  const { output_index: index } = event;
  return typeof index === 'number' ? String(index) : `id ${itemIdOf(event)}`;
}

function itemIdOf({ item_id: id, item }: JsonObject): string {
  const named = typeof id === 'string' ? id : isJsonObject(item) ? textOf(item['id']) : '';
  return named.slice(0, MAX_ID_LENGTH);
}
