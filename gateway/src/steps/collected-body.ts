/**
 * The largest answer that is read whole. The longest text that models write is half a megabyte; the rest is for
 * several choices, for the likelihoods of tokens, and for some pictures.
 */
export const LARGEST_ANSWER_BYTES = 16 * 1024 * 1024;
const LARGEST_BLOCK_BYTES = 64 * 1024;
const SMALLEST_BLOCK_BYTES = 1024;

/** An answer that is read whole before anything of it is sent. Copied into blocks: packets may hold a byte each. */
export class CollectedBody {
  #full: Buffer[] = [];
  #block: Buffer = Buffer.alloc(0);
  #used = 0;
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    for (let from = 0; from < chunk.length; ) {
      if (this.#used === this.#block.length) this.#openBlock();
      const copied = chunk.copy(this.#block, this.#used, from);
      this.#used += copied;
      from += copied;
    }
  }

  /** All of it; nothing is kept here then. */
  take(): Buffer {
    const blocks = this.takeBlocks();
    return blocks.length === 1 && blocks[0] ? blocks[0] : Buffer.concat(blocks);
  }

  takeBlocks(): Buffer[] {
    const blocks = [...this.#full, this.#block.subarray(0, this.#used)];
    this.#full = [];
    this.#block = Buffer.alloc(0);
    this.#used = 0;
    this.#bytes = 0;
    return blocks;
  }

  #openBlock(): void {
    if (this.#used > 0) this.#full.push(this.#block);
    const size = Math.min(LARGEST_BLOCK_BYTES, Math.max(SMALLEST_BLOCK_BYTES, 2 * this.#block.length));
    this.#block = Buffer.allocUnsafe(size);
    this.#used = 0;
  }
}
