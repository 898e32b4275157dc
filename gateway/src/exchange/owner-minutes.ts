const MINUTE_MS = 60_000;

/**
 * The use of each owner in its minute, which begins with the first use. An owner whose minute is over is forgotten: by later uses, so that
 * no timer has to run.
 */
export class OwnerMinutes<Used> {
  readonly #begin: () => Used;
  readonly #monotonicMs: () => number;
  readonly #minutes = new Map<string, { readonly startedAtMs: number; readonly used: Used }>();
  #sweptAtMs: number;

  /** `monotonicMs` is a clock that never goes back. */
  constructor(begin: () => Used, monotonicMs: () => number) {
    this.#begin = begin;
    this.#monotonicMs = monotonicMs;
    this.#sweptAtMs = monotonicMs();
  }

  /** Owners that are remembered. */
  get size(): number {
    return this.#minutes.size;
  }

  of(owner: string): Used {
    const nowMs = this.#monotonicMs();
    this.#sweep(nowMs);
    const known = this.#minutes.get(owner);
    if (known && nowMs - known.startedAtMs < MINUTE_MS) return known.used;
    const used = this.#begin();
    this.#minutes.set(owner, { startedAtMs: nowMs, used });
    return used;
  }

  #sweep(nowMs: number): void {
    if (nowMs - this.#sweptAtMs < MINUTE_MS) return;
    this.#sweptAtMs = nowMs;
    for (const [owner, { startedAtMs }] of this.#minutes) {
      if (nowMs - startedAtMs >= MINUTE_MS) this.#minutes.delete(owner);
    }
  }
}
