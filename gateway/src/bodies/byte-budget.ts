/**
 * An amount of memory that requests share: each takes what it needs and gives it back when it is over. An owner has
 * no more than its share, and no more than it leaves free: the more there are, the less each may have, and a new owner
 * finds room however many requests the others hold open.
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

  /** The bytes that all owners have taken together. */
  get takenBytes(): number {
    return this.#takenBytes;
  }

  /** True if the owner may have as much more; it is taken then. */
  take(owner: string, bytes: number): boolean {
    const ofOwner = (this.#takenBytesOf.get(owner) ?? 0) + bytes;
    const free = this.#limitBytes - this.#takenBytes - bytes;
    if (ofOwner > this.#shareBytes || ofOwner > free) return false;
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
