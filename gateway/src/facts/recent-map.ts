interface Entry<Value> {
  readonly value: Value;
  readonly bytes: number;
  isUsed: boolean;
}

/**
 * A map of bounded size. The oldest that was not used since its last turn leaves first. A look moves nothing: where each look
 * puts its entry back at the end, a Map makes a table every few looks, and the old tables keep what followed them in memory
 * until the next full garbage collection (registry.ts).
 */
export class RecentMap<Value> {
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #mostEntries: number;
  readonly #mostBytes: number;
  #bytes = 0;

  constructor(limits: { readonly entries: number; readonly bytes: number }) {
    this.#mostEntries = limits.entries;
    this.#mostBytes = limits.bytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(name: string): Value | undefined {
    const entry = this.#entries.get(name);
    if (!entry) return undefined;
    entry.isUsed = true;
    return entry.value;
  }

  /** `bytes` is about what the value takes. One that is too large for the map is not kept. */
  set(name: string, value: Value, bytes: number): void {
    this.delete(name);
    if (bytes > this.#mostBytes) return;
    while (this.#entries.size >= this.#mostEntries || this.#bytes + bytes > this.#mostBytes) this.#dropOne();
    this.#entries.set(name, { value, bytes, isUsed: false });
    this.#bytes += bytes;
  }

  delete(name: string): void {
    const entry = this.#entries.get(name);
    if (!entry) return;
    this.#entries.delete(name);
    this.#bytes -= entry.bytes;
  }

  /** Entries before it that were used have their next turn after the others. */
  #dropOne(): void {
    for (const [name, entry] of this.#entries) {
      if (!entry.isUsed) {
        this.delete(name);
        return;
      }
      entry.isUsed = false;
      this.#entries.delete(name);
      this.#entries.set(name, entry);
    }
  }
}
