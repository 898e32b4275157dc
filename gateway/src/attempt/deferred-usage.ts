import { createTurns } from '@gatehouse/concurrency';
import { SMALL_BODY_BYTES } from '../bodies/held-body.ts';
import type { Usage, UsageReader } from '../formats/protocol.ts';

// Many callers may leave at once, each a large answer half-way. To look through all of that in one go would keep everybody
// waiting for seconds, so one piece of one answer is read in each turn of the event loop.
const inTurn = createTurns();

/** Reads the usage of an answer that no caller will get. What has come already is read piece by piece, later, and freed. */
export class DeferredUsageReader implements UsageReader {
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
    else inTurn(this.#readPiece);
  }

  get usage(): Usage | undefined {
    return this.#reader.usage;
  }

  /** The bytes of it in memory. */
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

  /** Nothing more is wanted. */
  close(): void {
    for (const { buffer } of this.#pieces) buffer.transfer(0);
    this.#pieces = [];
    this.#waitingBytes = 0;
    this.#onAllRead = undefined;
  }

  readonly #readPiece = (): void => {
    // Closed meanwhile.
    if (this.#pieces.length === 0) return;
    this.#readNext();
    this.#onRead();
    if (this.#pieces.length > 0) inTurn(this.#readPiece);
    else this.#onAllRead?.();
  };

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
