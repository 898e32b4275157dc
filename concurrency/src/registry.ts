interface Entry<T> {
  readonly item: T;
  index: number;
}

/**
 * Things that come and go, such as the requests in flight. For many short-lived things it takes the place of a Set: when a
 * Set has taken so many that its table is replaced, the old table keeps pointing to the new one and to what it held. Once
 * one such table is in the old generation, all later ones and what they hold follow it there, and only a full garbage
 * collection frees them. An array is emptied in place.
 */
export class Registry<T> {
  readonly #entries: Entry<T>[] = [];

  get size(): number {
    return this.#entries.length;
  }

  /** A snapshot, in no order. */
  get items(): T[] {
    return this.#entries.map(({ item }) => item);
  }

  /** Adds it, and returns what removes it; a second call of that changes nothing. */
  add(item: T): () => void {
    const entry = { item, index: this.#entries.length };
    this.#entries.push(entry);
    return () => this.#remove(entry);
  }

  #remove(entry: Entry<T>): void {
    if (this.#entries[entry.index] !== entry) return;
    const last = this.#entries.pop() as Entry<T>;
    if (last === entry) return;
    this.#entries[entry.index] = last;
    last.index = entry.index;
  }
}
