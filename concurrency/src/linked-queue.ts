/** An item's place in a queue, until it is removed. */
export interface QueueEntry<T> {
  readonly item: T;
  previous: QueueEntry<T> | undefined;
  next: QueueEntry<T> | undefined;
  isQueued: boolean;
}

/**
 * Items in the order in which they were added. Any can be removed, and what is removed points to nothing any more. It takes
 * the place of a Set for what waits only shortly (registry.ts says why).
 */
export class LinkedQueue<T> implements Iterable<T> {
  #first: QueueEntry<T> | undefined;
  #last: QueueEntry<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): T | undefined {
    return this.#first?.item;
  }

  get last(): T | undefined {
    return this.#last?.item;
  }

  add(item: T): QueueEntry<T> {
    const entry: QueueEntry<T> = { item, previous: this.#last, next: undefined, isQueued: true };
    if (this.#last) this.#last.next = entry;
    else this.#first = entry;
    this.#last = entry;
    this.#size += 1;
    return entry;
  }

  /** True if it was still there. The entry must be of this queue. */
  remove(entry: QueueEntry<T>): boolean {
    if (!entry.isQueued) return false;
    const { previous, next } = entry;
    if (previous) previous.next = next;
    else this.#first = next;
    if (next) next.previous = previous;
    else this.#last = previous;
    entry.previous = undefined;
    entry.next = undefined;
    entry.isQueued = false;
    this.#size -= 1;
    return true;
  }

  /** The item at hand may be removed meanwhile, others not. */
  *[Symbol.iterator](): Generator<T, void> {
    for (let entry = this.#first; entry; ) {
      const { next } = entry;
      yield entry.item;
      entry = next;
    }
  }
}
