import { isJsonObject, type JsonObject } from '../../json.ts';
import type { ReasoningSeal } from '../conversation.ts';
import type { StreamEvent } from '../stream-events.ts';
import { extraSeal } from './extra-content.ts';

const MAX_CALLS = 1_024;
// What comes of a call before its name. Servers send the name first.
const MAX_HELD_CHARACTERS = 1024 * 1024;

interface StreamedCall {
  readonly index: number;
  readonly id: string;
  /** True if its beginning was told. */
  hasBegun: boolean;
  /** Arguments that came before the name. */
  held: string[];
}

/**
 * The tool calls of a stream. Their pieces are told apart by `index`; but some servers leave it out, or write 0 for all of
 * them, so a new id at a known index is a new call.
 */
export class StreamedCalls {
  readonly #byKey = new Map<number, StreamedCall>();
  readonly #ended: StreamedCall[] = [];
  // What came with a call after it had begun.
  readonly #lateSeals: ReasoningSeal[] = [];
  #count = 0;
  #lastKey = 0;
  #heldCharacters = 0;
  #sealCharacters = 0;

  get keptBytes(): number {
    return 2 * (this.#heldCharacters + this.#sealCharacters);
  }

  get hasCalls(): boolean {
    return [...this.#byKey.values(), ...this.#ended].some((call) => call.hasBegun);
  }

  get hasTooMany(): boolean {
    return this.#count > MAX_CALLS || this.#heldCharacters + this.#sealCharacters > MAX_HELD_CHARACTERS;
  }

  /** `exactDeltas` reads them once more: what comes with a call goes back to its provider as it was sent. */
  read(deltas: readonly unknown[], exactDeltas: () => readonly unknown[]): StreamEvent[] {
    const hasExtra = deltas.some((delta) => isJsonObject(extraOf(delta)));
    const exact = hasExtra ? exactDeltas() : [];
    return deltas.flatMap((delta, place) =>
      isJsonObject(delta) && !this.hasTooMany ? this.#readOne(delta, extraOf(exact[place])) : [],
    );
  }

  /** The events that are left when the answer ends. */
  end(): StreamEvent[] {
    const ends = [...this.#byKey.values()]
      .filter((call) => call.hasBegun)
      .map(({ index }): StreamEvent => ({ type: 'toolCallEnd', index }));
    return [...ends, ...this.#lateSeals.map((seal): StreamEvent => ({ type: 'seal', seal }))];
  }

  #readOne(delta: JsonObject, extra: unknown): StreamEvent[] {
    const isCustom = isJsonObject(delta['custom']);
    const called = isCustom ? delta['custom'] : delta['function'];
    const { name, arguments: written, input } = isJsonObject(called) ? called : {};
    const events: StreamEvent[] = [];
    const call = this.#callOf(delta, events);
    const seal = extraSeal(call.id, extra);
    const text = isCustom ? input : written;
    const piece = typeof text === 'string' ? text : '';
    if (!call.hasBegun) {
      if (typeof name !== 'string' || name === '') {
        if (piece !== '') call.held.push(piece);
        this.#heldCharacters += piece.length;
        return events;
      }
      if (seal) events.push({ type: 'seal', seal });
      call.hasBegun = true;
      events.push({
        type: 'toolCall',
        index: call.index,
        id: call.id,
        kind: isCustom ? 'custom' : 'function',
        name,
      });
      const before = call.held.join('');
      this.#heldCharacters -= before.length;
      call.held = [];
      if (before !== '') events.push({ type: 'toolArguments', index: call.index, text: before });
    } else if (seal) {
      this.#sealCharacters += seal.value.length;
      this.#lateSeals.push(seal);
    }
    if (piece !== '') events.push({ type: 'toolArguments', index: call.index, text: piece });
    return events;
  }

  #callOf(delta: JsonObject, events: StreamEvent[]): StreamedCall {
    const id = typeof delta['id'] === 'string' ? delta['id'] : '';
    const place = delta['index'];
    const key = typeof place === 'number' ? place : this.#keyWithoutIndex(id);
    this.#lastKey = key;
    const known = this.#byKey.get(key);
    if (known && (id === '' || id === known.id)) return known;
    if (known) {
      if (known.hasBegun) events.push({ type: 'toolCallEnd', index: known.index });
      this.#ended.push(known);
    }
    const index = this.#count;
    this.#count += 1;
    const call = { index, id: id === '' ? `call_${index}` : id, hasBegun: false, held: [] };
    this.#byKey.set(key, call);
    return call;
  }

  /** A piece without an index goes on with the last call, unless its id is another one's. */
  #keyWithoutIndex(id: string): number {
    const last = this.#byKey.get(this.#lastKey);
    return last && id !== '' && id !== last.id ? this.#lastKey + 1 : this.#lastKey;
  }
}

function extraOf(delta: unknown): unknown {
  return isJsonObject(delta) ? delta['extra_content'] : undefined;
}
