const BLOCK_BYTES = 64 * 1024;
const FIRST_BLOCK_BYTES = 4 * 1024;

/**
 * A body as it arrives, in blocks of its own. The pieces that come are copied and let go: a caller can send a
 * megabyte as a million pieces, and each would cost some hundred bytes to keep.
 */
export class BodyBlocks {
  readonly #mostBytes: number;
  readonly #isAnnounced: boolean;
  readonly #blocks: Uint8Array<ArrayBuffer>[] = [];
  #heldBytes = 0;
  #length = 0;

  /** `announcedBytes`: how long it will be, as far as that was said; else it has `limitBytes` at most. */
  constructor(announcedBytes: number | undefined, limitBytes: number) {
    this.#mostBytes = announcedBytes ?? limitBytes;
    this.#isAnnounced = announcedBytes !== undefined;
  }

  get length(): number {
    return this.#length;
  }

  /** What the blocks take once this much more has come. */
  heldBytesWith(moreBytes: number): number {
    let held = this.#heldBytes;
    while (held < this.#length + moreBytes) held += this.#nextBlockBytes(held);
    return held;
  }

  append(chunk: Uint8Array): void {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#heldBytes === this.#length) {
        const block = new Uint8Array(this.#nextBlockBytes(this.#heldBytes));
        this.#blocks.push(block);
        this.#heldBytes += block.length;
      }
      const block = this.#blocks.at(-1) as Uint8Array;
      const start = block.length - (this.#heldBytes - this.#length);
      const fitting = rest.subarray(0, block.length - start);
      block.set(fitting, start);
      this.#length += fitting.length;
      rest = rest.subarray(fitting.length);
    }
  }

  /** The whole body, in memory that is nobody else's. The blocks are gone then. */
  join(): Buffer<ArrayBuffer> {
    const whole = new Uint8Array(this.#length);
    let at = 0;
    for (const block of this.#blocks) {
      whole.set(block.subarray(0, this.#length - at), at);
      at += block.length;
      // Freed now and not when the garbage collector comes by.
      block.buffer.transfer(0);
    }
    this.#blocks.length = 0;
    return Buffer.from(whole.buffer);
  }

  #nextBlockBytes(heldBytes: number): number {
    const size = this.#isAnnounced ? BLOCK_BYTES : Math.max(FIRST_BLOCK_BYTES, heldBytes);
    return Math.max(1, Math.min(size, BLOCK_BYTES, this.#mostBytes - heldBytes));
  }
}
