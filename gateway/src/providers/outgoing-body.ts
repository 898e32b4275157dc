const PIECE_BYTES = 64 * 1024;

/**
 * A body in pieces, taken as the connection takes them. The client library keeps hold of a body until the answer has
 * ended, which for a stream is minutes: this lets go of the bytes once they are sent.
 */
export class OutgoingBody implements Iterable<Buffer> {
  #bytes: Buffer | undefined;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  *[Symbol.iterator](): Generator<Buffer, void> {
    try {
      for (let at = 0; this.#bytes && at < this.#bytes.length; at += PIECE_BYTES) {
        yield this.#bytes.subarray(at, at + PIECE_BYTES);
      }
    } finally {
      this.#bytes = undefined;
    }
  }
}
