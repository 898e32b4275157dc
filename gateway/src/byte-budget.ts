/**
 * An amount of memory that requests share: each takes what it needs and gives it back when it is over. Nobody has
 * more than a share of it, however many requests it holds open, so that the others find room.
 */
export class ByteBudget {
  readonly #limitBytes: number;
  readonly #shareBytes: number;
  readonly #takenBytesOf = new Map<string, number>();
  #takenBytes = 0;

  constructor(limitBytes: number, shareBytes: number) {
    this.#limitBytes = limitBytes;
    this.#shareBytes = shareBytes;
  }

  /** Whether there was as much left, in all and of the owner's share; it is taken then. */
  take(owner: string, bytes: number): boolean {
    const ofOwner = (this.#takenBytesOf.get(owner) ?? 0) + bytes;
    if (ofOwner > this.#shareBytes || this.#takenBytes + bytes > this.#limitBytes) return false;
    this.#takenBytesOf.set(owner, ofOwner);
    this.#takenBytes += bytes;
    return true;
  }

  give(owner: string, bytes: number): void {
    const ofOwner = (this.#takenBytesOf.get(owner) ?? 0) - bytes;
    if (ofOwner > 0) this.#takenBytesOf.set(owner, ofOwner);
    else this.#takenBytesOf.delete(owner);
    this.#takenBytes -= bytes;
  }
}
