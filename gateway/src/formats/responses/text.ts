import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import type { GeneratedPiece } from '../generated-piece.ts';
import type { GeneratedText } from '../generated-text.ts';
import { piecesOfItem } from './pieces.ts';

// In a stream of the Responses API a text comes piece by piece, and again whole when its item is done. It is counted
// once: the pieces where there were any, else the whole item.

const MAX_ITEMS = 4_096;
const MAX_ID_LENGTH = 64;
const DELTA = '.delta';

interface Seen {
  hasName: boolean;
  hasPieces: boolean;
}

/** The content that an event adds to the answer. */
export interface EventContent {
  readonly isContent: boolean;
  readonly isReasoning: boolean;
}

/** Keeps what was generated in a stream, to count it if the upstream does not say how much it was. */
export class ResponsesText {
  readonly #generated: GeneratedText;
  readonly #seen = new Map<string, Seen>();

  constructor(generated: GeneratedText) {
    this.#generated = generated;
  }

  /** The piece of a text that an event carries; undefined for an event with none. */
  #spokenIn(event: JsonObject): Pick<GeneratedPiece, 'voice' | 'text'> | undefined {
    const { type, delta } = event;
    if (typeof type !== 'string' || !type.endsWith(DELTA) || typeof delta !== 'string') return undefined;
    const part = [event['content_index'], event['summary_index']].find((index) => typeof index === 'number');
    return { voice: `${itemOf(event)} ${type.slice(0, MAX_ID_LENGTH)} ${part ?? ''}`, text: delta };
  }

  /** Takes note of an event in the middle of a stream. */
  read(event: JsonObject): EventContent {
    switch (event['type']) {
      case 'response.output_item.added':
        return this.#readAdded(event);
      case 'response.output_item.done':
        return this.#readDone(itemOf(event), event['item']);
      default:
        return this.#readPiece(event);
    }
  }

  /** The response as it stands at the end: the items of it that no event before has shown. */
  readWhole(response: JsonObject): void {
    const items: readonly unknown[] = Array.isArray(response['output']) ? response['output'] : [];
    if (!this.#generated.isEmpty) return;
    for (const [index, item] of items.entries()) this.#readDone(`end ${index}`, item);
  }

  #readPiece(event: JsonObject): EventContent {
    const piece = this.#spokenIn(event);
    if (!piece || piece.text === '') return { isContent: false, isReasoning: false };
    const seen = this.#seenOf(itemOf(event));
    if (seen) seen.hasPieces = true;
    const type = String(event['type']);
    // Sound comes as base64, beside its words.
    const isSound = type.includes('audio') && !type.includes('transcript');
    if (!isSound) this.#generated.append(piece.voice, piece.text);
    return { isContent: true, isReasoning: type.includes('reasoning') };
  }

  #readAdded(event: JsonObject): EventContent {
    const item = isJsonObject(event['item']) ? event['item'] : {};
    const { name } = item;
    const isReasoning = item['type'] === 'reasoning';
    if (typeof name !== 'string' || name === '') return { isContent: false, isReasoning };
    const seen = this.#seenOf(itemOf(event));
    if (seen?.hasName === false) this.#generated.append(`${itemOf(event)} name`, name);
    if (seen) seen.hasName = true;
    return { isContent: true, isReasoning };
  }

  #readDone(key: string, item: unknown): EventContent {
    const seen = this.#seenOf(key) ?? { hasName: true, hasPieces: true };
    const pieces = piecesOfItem(item);
    const name = isJsonObject(item) ? item['name'] : undefined;
    for (const { text, isCounted } of pieces) {
      const isSeen = text === name ? seen.hasName : seen.hasPieces;
      if (isCounted && !isSeen) this.#generated.append(`${key} done`, text);
    }
    seen.hasName = true;
    seen.hasPieces = true;
    const isReasoning = isJsonObject(item) && item['type'] === 'reasoning';
    return { isContent: pieces.length > 0, isReasoning };
  }

  /** Undefined past the number of items that is kept: what they repeat is then not counted. */
  #seenOf(key: string): Seen | undefined {
    const existing = this.#seen.get(key);
    if (existing || this.#seen.size >= MAX_ITEMS) return existing;
    const seen = { hasName: false, hasPieces: false };
    this.#seen.set(key, seen);
    return seen;
  }
}

/** The item that an event belongs to. Its position stays; some servers give it another id in every event. */
function itemOf(event: JsonObject): string {
  const { output_index: index, item_id: id, item } = event;
  if (typeof index === 'number') return String(index);
  const named = typeof id === 'string' ? id : isJsonObject(item) ? item['id'] : undefined;
  return typeof named === 'string' ? `id ${named.slice(0, MAX_ID_LENGTH)}` : '';
}
