/**
 * Work that waits, by owner. Next comes the owner with the least work in progress, and among equals the one that has
 * waited longest since its last turn: however much one queues, another waits for one piece of it at most.
 */
export class FairQueue<Item> {
  readonly #mostOfOwner: number;
  // In the order of their turns.
  readonly #waitingOf = new Map<string, Set<Item>>();
  readonly #runningOf = new Map<string, number>();

  constructor(mostOfOwner: number) {
    this.#mostOfOwner = mostOfOwner;
  }

  /** Whether there was a place in the owner's queue. */
  add(owner: string, item: Item): boolean {
    const waiting = this.#waitingOf.get(owner) ?? new Set();
    if (waiting.size >= this.#mostOfOwner) return false;
    this.#waitingOf.set(owner, waiting.add(item));
    return true;
  }

  /** Whether it was still waiting; it no longer is. */
  remove(owner: string, item: Item): boolean {
    const waiting = this.#waitingOf.get(owner);
    if (!waiting?.delete(item)) return false;
    if (waiting.size === 0) this.#waitingOf.delete(owner);
    return true;
  }

  /** Takes the next one, which is in progress until `done`; undefined when nothing waits. */
  next(): Item | undefined {
    let owner: string | undefined;
    for (const candidate of this.#waitingOf.keys()) {
      if (owner === undefined || this.#runs(candidate) < this.#runs(owner)) owner = candidate;
    }
    if (owner === undefined) return undefined;
    const waiting = this.#waitingOf.get(owner) as Set<Item>;
    const [item] = waiting as Set<Item> & Iterable<Item, Item>;
    waiting.delete(item as Item);
    // To the end of the line.
    this.#waitingOf.delete(owner);
    if (waiting.size > 0) this.#waitingOf.set(owner, waiting);
    this.#runningOf.set(owner, this.#runs(owner) + 1);
    return item;
  }

  done(owner: string): void {
    const running = this.#runs(owner) - 1;
    if (running > 0) this.#runningOf.set(owner, running);
    else this.#runningOf.delete(owner);
  }

  #runs(owner: string): number {
    return this.#runningOf.get(owner) ?? 0;
  }
}
