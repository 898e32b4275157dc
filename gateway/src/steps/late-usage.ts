import { SMALL_BODY_BYTES } from '../bodies/held-body.ts';
import type { Usage, UsageReader } from '../protocols/protocol.ts';

// Many callers may leave at once, each a large answer half-way. To look through all of that in one go would keep everybody
// waiting for seconds, so one piece of one answer is read in each turn of the event loop.

const waiting = new Set<LateUsage>();
let isDue = false;

function readInTurn(): void {
  if (isDue || waiting.size === 0) return;
  isDue = true;
  setImmediate(() => {
    isDue = false;
    const [first] = waiting;
    if (first) {
      waiting.delete(first);
      if (first.readPiece()) waiting.add(first);
    }
    readInTurn();
  });
}

/** Reads the usage of an answer that no caller will get, of which some has come already. Frees what it has read. */
export class LateUsage implements UsageReader {
  readonly #reader: UsageReader;
  readonly #onRead: () => void;
  #pieces: Uint8Array<ArrayBuffer>[] = [];
  #waitingBytes = 0;
  #onAllRead: (() => void) | undefined;

  /** `collected` becomes its own. `onRead` is called whenever less of it waits. */
  constructor(reader: UsageReader, collected: readonly Uint8Array<ArrayBuffer>[], onRead: () => void) {
    this.#reader = reader;
    this.#onRead = onRead;
    for (const piece of collected) this.#wait(piece);
    if (this.#waitingBytes <= SMALL_BODY_BYTES) while (this.#readNext());
    else waiting.add(this);
    readInTurn();
  }

  get usage(): Usage | undefined {
    return this.#reader.usage;
  }

  /** What of it is in memory. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  push(chunk: Buffer): void {
    if (this.#pieces.length > 0) this.#wait(new Uint8Array(chunk));
    else this.#reader.push(chunk);
  }

  /** Calls back once nothing waits to be read. */
  whenAllRead(then: () => void): void {
    if (this.#pieces.length === 0) then();
    else this.#onAllRead = then;
  }

  /** Reads the next piece; whether there are more. */
  readPiece(): boolean {
    this.#readNext();
    this.#onRead();
    if (this.#pieces.length === 0) this.#onAllRead?.();
    return this.#pieces.length > 0;
  }

  /** Nothing more is wanted. */
  close(): void {
    waiting.delete(this);
    for (const { buffer } of this.#pieces) buffer.transfer(0);
    this.#pieces = [];
    this.#waitingBytes = 0;
    this.#onAllRead = undefined;
  }

  #wait(piece: Uint8Array<ArrayBuffer>): void {
    this.#pieces.push(piece);
    this.#waitingBytes += piece.length;
  }

  #readNext(): boolean {
    const piece = this.#pieces.shift();
    if (!piece) return false;
    this.#waitingBytes -= piece.length;
    this.#reader.push(Buffer.from(piece.buffer, piece.byteOffset, piece.length));
    piece.buffer.transfer(0);
    return this.#pieces.length > 0;
  }
}
