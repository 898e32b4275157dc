import { ByteBlocks } from '../bodies/byte-blocks.ts';
import { SMALL_BODY_BYTES } from '../bodies/held-body.ts';
import type { UsageReader } from '../protocols/protocol.ts';

/**
 * An answer that comes and is read whole. The usage of a large one is read as it passes: many callers may leave at
 * once, and what they leave is then given up without a look at all of it.
 */
export class CollectedAnswer {
  readonly blocks = new ByteBlocks(undefined, Number.MAX_SAFE_INTEGER);
  readonly #openUsage: () => UsageReader;
  #usage: UsageReader | undefined;

  constructor(openUsage: () => UsageReader) {
    this.#openUsage = openUsage;
  }

  append(chunk: Buffer): void {
    this.blocks.append(chunk);
    if (this.#usage) this.#usage.push(chunk);
    else if (this.blocks.length > SMALL_BODY_BYTES) this.#usage = this.#readBlocks();
  }

  /** Frees the bytes. The usage so far; what follows can be pushed to it. */
  giveUp(): UsageReader {
    const usage = this.#usage ?? this.#readBlocks();
    this.blocks.free();
    return usage;
  }

  #readBlocks(): UsageReader {
    const usage = this.#openUsage();
    for (const { buffer, byteOffset, length } of this.blocks.pieces())
      usage.push(Buffer.from(buffer, byteOffset, length));
    return usage;
  }
}
