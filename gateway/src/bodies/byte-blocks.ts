const BLOCK_BYTES = 64 * 1024;
const FIRST_BLOCK_BYTES = 4 * 1024;

/**
 * The bytes of a body as they arrive, in blocks of their own. The packets are copied and released: a sender can split
 * a megabyte into a million packets, and each would keep some hundred bytes.
 */
export class ByteBlocks {
  readonly #mostBytes: number;
  readonly #isAnnounced: boolean;
  #blocks: Uint8Array<ArrayBuffer>[] = [];
  #heldBytes = 0;
  #length = 0;

  /** `announcedBytes`: the length, where the sender states it. `limitBytes`: the most that is appended. */
  constructor(announcedBytes: number | undefined, limitBytes: number) {
    this.#mostBytes = announcedBytes ?? limitBytes;
    this.#isAnnounced = announcedBytes !== undefined;
  }

  /** A body that has come whole: its own memory, or a copy where other bytes lie in that memory too. */
  static of(bytes: Buffer): ByteBlocks {
    const blocks = new ByteBlocks(bytes.length, bytes.length);
    blocks.#blocks = [ownMemory(bytes)];
    blocks.#heldBytes = bytes.length;
    blocks.#length = bytes.length;
    return blocks;
  }

  get length(): number {
    return this.#length;
  }

  /** The memory that the blocks take once this many more bytes have been appended. */
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

  /** Removes and returns the blocks: each has memory of its own, so that it can be moved to another thread. */
  take(): readonly Uint8Array<ArrayBuffer>[] {
    const blocks = this.#blocks;
    const last = blocks.at(-1);
    if (last) blocks[blocks.length - 1] = last.subarray(0, last.length - (this.#heldBytes - this.#length));
    this.#blocks = [];
    this.#heldBytes = 0;
    this.#length = 0;
    return blocks;
  }

  /** Frees their memory at once, where the body is given up: it may be old, and would wait for a full collection. */
  free(): void {
    for (const { buffer } of this.take()) buffer.transfer(0);
  }

  #nextBlockBytes(heldBytes: number): number {
    const size = this.#isAnnounced ? BLOCK_BYTES : Math.max(FIRST_BLOCK_BYTES, heldBytes);
    return Math.max(1, Math.min(size, BLOCK_BYTES, this.#mostBytes - heldBytes));
  }
}

/** The same bytes in memory that holds nothing else, so that it can be moved. */
export function ownMemory(bytes: Buffer): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes;
  const isOwn = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return isOwn ? new Uint8Array(buffer) : new Uint8Array(bytes);
}

/**
 * The blocks' bytes as one body. Each block's memory is freed as soon as it is copied. A single block is not copied: the
 * most that it has beyond its bytes is the rest of a first block, 4 KiB.
 */
export function joinBlocks(blocks: readonly Uint8Array<ArrayBuffer>[]): Buffer<ArrayBuffer> {
  const [only] = blocks;
  if (blocks.length === 1 && only) return Buffer.from(only.buffer, only.byteOffset, only.length);
  const whole = new Uint8Array(blocks.reduce((length, block) => length + block.length, 0));
  let at = 0;
  for (const block of blocks) {
    whole.set(block, at);
    at += block.length;
    // Freed now, not at the next garbage collection.
    block.buffer.transfer(0);
  }
  return Buffer.from(whole.buffer);
}
