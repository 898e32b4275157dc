/** A map of bounded size. What was used the longest ago leaves first. */
export class RecentMap<Value> {
  readonly #entries = new Map<string, { readonly value: Value; readonly bytes: number }>();
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
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    return entry.value;
  }

  /** `bytes` is about what the value takes. One that is too large for the map is not kept. */
  set(name: string, value: Value, bytes: number): void {
    this.delete(name);
    this.#entries.set(name, { value, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#mostEntries && this.#bytes <= this.#mostBytes) break;
      this.delete(oldest);
    }
  }

  delete(name: string): void {
    const entry = this.#entries.get(name);
    if (!entry) return;
    this.#entries.delete(name);
    this.#bytes -= entry.bytes;
  }
}
