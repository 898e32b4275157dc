import { isJsonObject, type JsonObject, textOf } from '../../wire/json.ts';

/** Items of one answer that are told apart. Models call some dozen tools at once at most. */
export const MAX_ITEMS = 4096;
const MAX_ID_LENGTH = 64;
const ITEM_BYTES = 128;

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
  /** True if one did not find room. */
  areTooMany = false;

  get size(): number {
    return this.#items.size;
  }

  /** The bytes that it holds in memory. */
  get keptBytes(): number {
    return this.#items.size * ITEM_BYTES;
  }

  /** The item that an event belongs to; undefined past the number that is kept. */
  at(event: JsonObject): OpenItem | undefined {
    const key = keyOf(event);
    const existing = this.#items.get(key);
    if (existing) return existing;
    if (this.#items.size >= MAX_ITEMS) {
      this.areTooMany = true;
      return undefined;
    }
    const heard = { hasName: false, hasPieces: false, hasDeltas: false };
    const item: OpenItem = { key, ...heard, isBegun: false, isTold: false, isEnded: false };
    this.#items.set(key, item);
    return item;
  }
}

/** The place in the output, or the id where a server does not say it: some give another id in every event. */
function keyOf({ output_index: index, item_id: id, item }: JsonObject): string {
  if (typeof index === 'number') return String(index);
  const named = typeof id === 'string' ? id : isJsonObject(item) ? textOf(item['id']) : '';
  return named === '' ? '' : `id ${named.slice(0, MAX_ID_LENGTH)}`;
}
