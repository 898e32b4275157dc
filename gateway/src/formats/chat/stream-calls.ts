import { CallIds } from '../translation/call-ids.ts';
import type { ReasoningSeal } from '../translation/conversation.ts';
import type { StreamEvent } from '../translation/stream-events.ts';
import { InputPieces, isEmptyPiece } from '../translation/tool-input.ts';
import type { TranslationNotes } from '../translation/translator.ts';
import type { ChatCall } from './pieces.ts';
import { extraSeal } from './reasoning.ts';

const MAX_CALLS = 1_024;
// What comes of a call before its name. Servers send the name first.
const MAX_HELD_CHARACTERS = 1024 * 1024;
const MAX_START_CHARACTERS = 4 * 1024;
/** The beginning of an object, up to where no value can begin. */
const START = /^\s*\{(?:[\s\S]*[^\s:[,])?$/;

interface StreamedCall {
  readonly index: number;
  /** The caller's id. */
  readonly id: string;
  /** The provider's; empty until it gives one. */
  providerId: string;
  /** Undefined before the caller was sent its beginning. */
  name: string | undefined;
  /** The arguments so far: they say whether their object was closed. */
  readonly pieces: InputPieces;
  /** True if its arguments were an empty object so far: they may be all, or more may follow. */
  isEmpty: boolean;
  /** Arguments that came before the name. */
  held: string[];
  /** The first piece of the arguments, until the second has come. */
  start: string | undefined;
  /** The characters so far, where each piece repeats those before it. */
  repeated: number | undefined;
}

/**
 * The tool calls of a stream. Their pieces are told apart by `index`; but some servers leave it out, or write 0 for all of them, and some
 * give no ids. So a new id at a known index is a new call, an id without an index is its call's, and a name at a call whose arguments are
 * whole begins another. Some send the arguments once more when they are whole, or all of them so far in each piece.
 */
export class StreamedCalls {
  readonly #byKey = new Map<number, StreamedCall>();
  readonly #calls: StreamedCall[] = [];
  readonly #ids: CallIds;
  // What came with a call after it had begun.
  readonly #lateSeals: ReasoningSeal[] = [];
  #last: StreamedCall | undefined;
  #heldCharacters = 0;
  #sealCharacters = 0;

  constructor(notes: TranslationNotes) {
    this.#ids = new CallIds(notes);
  }

  get keptBytes(): number {
    return 2 * (this.#heldCharacters + this.#sealCharacters);
  }

  get hasCalls(): boolean {
    return this.#calls.some(({ name }) => name !== undefined);
  }

  /** True if the arguments of a call are not whole. */
  get hasOpen(): boolean {
    return this.#calls.some(({ pieces }) => pieces.isOpen);
  }

  get hasTooMany(): boolean {
    return (
      this.#calls.length > MAX_CALLS || this.#heldCharacters + this.#sealCharacters > MAX_HELD_CHARACTERS
    );
  }

  /** Reads the pieces of calls that came together. */
  read(pieces: readonly ChatCall[]): StreamEvent[] {
    return pieces.flatMap((piece) => (this.hasTooMany ? [] : this.#readOne(piece)));
  }

  /** The events that are left when the answer ends. */
  end(): StreamEvent[] {
    const ends = this.#calls
      .filter(({ name }) => name !== undefined)
      .map(({ index }): StreamEvent => ({ type: 'toolCallEnd', index }));
    return [...ends, ...this.#lateSeals.map((seal): StreamEvent => ({ type: 'seal', seal }))];
  }

  #readOne(read: ChatCall): StreamEvent[] {
    const { kind, name } = read;
    const call = this.#callOf(read);
    this.#last = call;
    const seal = extraSeal(call.id, read.extra);
    const events: StreamEvent[] = [];
    const piece = addedTo(call, read);
    if (call.name === undefined) {
      if (name === '') {
        if (piece !== '') call.held.push(piece);
        this.#heldCharacters += piece.length;
        return events;
      }
      if (seal) events.push({ type: 'seal', seal });
      call.name = name;
      const { index, id } = call;
      events.push({ type: 'toolCall', index, id, kind, name });
      const before = call.held.join('');
      this.#heldCharacters -= before.length;
      call.held = [];
      if (before !== '') events.push({ type: 'toolArguments', index, text: before });
    } else if (seal) {
      this.#sealCharacters += seal.value.length;
      this.#lateSeals.push(seal);
    }
    if (piece !== '') events.push({ type: 'toolArguments', index: call.index, text: piece });
    return events;
  }

  #callOf({ id, place, name, arguments: piece }: ChatCall): StreamedCall {
    const found = this.#find(id, place, name);
    const isAnother = found && id === '' && name !== '' && isOver(found, name, piece);
    if (found && !isAnother) {
      found.providerId ||= id;
      return found;
    }
    const call: StreamedCall = {
      index: this.#calls.length,
      id: this.#ids.give(id),
      providerId: id,
      name: undefined,
      pieces: new InputPieces(),
      isEmpty: false,
      held: [],
      start: undefined,
      repeated: undefined,
    };
    this.#calls.push(call);
    if (place !== undefined) this.#byKey.set(place, call);
    return call;
  }

  #find(id: string, place: number | undefined, name: string): StreamedCall | undefined {
    const atPlace = place === undefined ? undefined : this.#byKey.get(place);
    if (id === '') return place === undefined ? this.#last : atPlace;
    if (atPlace && (atPlace.providerId === id || atPlace.providerId === '')) return atPlace;
    // A call that begins at an index of its own may repeat the id of another.
    if (place !== undefined && name !== '') return undefined;
    const known = this.#calls.findLast(({ providerId }) => providerId === id);
    // Some servers make up a new id for each piece of a call.
    return known ?? (name === '' && atPlace && !atPlace.pieces.isComplete ? atPlace : undefined);
  }
}

/** The part of a piece that continues the arguments of a call: none of it once their object was closed. */
function addedTo(call: StreamedCall, { kind, arguments: received }: ChatCall): string {
  const { pieces } = call;
  if (pieces.isBlank && isEmptyPiece(received)) {
    call.isEmpty ||= received.trim() !== '';
    return received;
  }
  const piece = kind === 'function' ? newIn(call, received) : received;
  const added = pieces.addAsWritten(piece);
  return kind === 'function' ? added : piece;
}

/**
 * The part of a piece that has not come before. A second piece that begins with the first, where no value can begin, repeats it, as do all
 * after it.
 */
function newIn(call: StreamedCall, piece: string): string {
  const { start, repeated, pieces } = call;
  if (piece === '') return piece;
  const isStart = pieces.isBlank && piece.length <= MAX_START_CHARACTERS && START.test(piece);
  call.start = isStart ? piece : undefined;
  const known = repeated ?? (start !== undefined && piece.startsWith(start) ? start.length : undefined);
  if (known === undefined) return piece;
  call.repeated = Math.max(known, piece.length);
  return piece.slice(known);
}

/** True if the piece, which has a name and no id, is of a call after this one. */
function isOver({ name, pieces, isEmpty }: StreamedCall, nextName: string, piece: string): boolean {
  if (name === undefined) return false;
  return pieces.isComplete || isEmpty
    ? piece !== '' || nextName !== name
    : pieces.isBlank && nextName !== name;
}
