// Each takes some memory and a connection to a provider. Many callers leave within a minute where people stop their
// chats, and one that finds no place is billed its hold.
export const MAX_READ_ONS = 512;
export const MAX_READ_ONS_OF_ONE = 128;

/** Places for answers that are read on after their caller has left: so many in all, and a quarter of them for each. */
export class ReadOns {
  readonly #ofOwner = new Map<string, number>();
  #all = 0;

  /** True if there was a place; it is taken then. */
  take(owner: string): boolean {
    const ofOwner = this.#ofOwner.get(owner) ?? 0;
    if (this.#all >= MAX_READ_ONS || ofOwner >= MAX_READ_ONS_OF_ONE) return false;
    this.#ofOwner.set(owner, ofOwner + 1);
    this.#all += 1;
    return true;
  }

  give(owner: string): void {
    const ofOwner = (this.#ofOwner.get(owner) ?? 0) - 1;
    if (ofOwner > 0) this.#ofOwner.set(owner, ofOwner);
    else this.#ofOwner.delete(owner);
    this.#all -= 1;
  }
}
