/** What may be written in a minute. */
export interface WriteLimits {
  /** One by one, of one key. */
  readonly singlesOfKey: number;
  /** One by one, of one owner. */
  readonly singles: number;
  /** Counts, of one owner. */
  readonly counts: number;
}

interface Window {
  readonly startedAtMs: number;
  singles: number;
  counts: number;
  readonly singlesByKey: Map<string, number>;
}

const WINDOW_MS = 60_000;

/**
 * How much each owner has had written in its minute, which begins with the first. An owner whose minute is over is
 * forgotten, and of one owner no more keys are kept than were written one by one.
 */
export class WriteBudget {
  readonly #limits: WriteLimits;
  readonly #monotonicMs: () => number;
  readonly #windows = new Map<string, Window>();
  #sweptAtMs: number;

  /** `monotonicMs` is a clock that never goes back. */
  constructor(limits: WriteLimits, monotonicMs: () => number) {
    this.#limits = limits;
    this.#monotonicMs = monotonicMs;
    this.#sweptAtMs = monotonicMs();
  }

  /** Whether one more of the key may be written by itself; then it counts as written. */
  takeSingle(owner: string, key: string): boolean {
    const { singlesOfKey, singles } = this.#limits;
    const window = this.#windowOf(owner);
    const ofKey = window.singlesByKey.get(key) ?? 0;
    if (ofKey >= singlesOfKey || window.singles >= singles) return false;
    window.singlesByKey.set(key, ofKey + 1);
    window.singles += 1;
    return true;
  }

  /** Whether one more count may be begun, which is to be written later. */
  takeCount(owner: string): boolean {
    const window = this.#windowOf(owner);
    if (window.counts >= this.#limits.counts) return false;
    window.counts += 1;
    return true;
  }

  /** Owners that are remembered. */
  get size(): number {
    return this.#windows.size;
  }

  #windowOf(owner: string): Window {
    const nowMs = this.#monotonicMs();
    this.#sweep(nowMs);
    const known = this.#windows.get(owner);
    if (known && nowMs - known.startedAtMs < WINDOW_MS) return known;
    const window: Window = { startedAtMs: nowMs, singles: 0, counts: 0, singlesByKey: new Map() };
    this.#windows.set(owner, window);
    return window;
  }

  // Later requests forget the owners that went quiet, so no timer has to run.
  #sweep(nowMs: number): void {
    if (nowMs - this.#sweptAtMs < WINDOW_MS) return;
    this.#sweptAtMs = nowMs;
    for (const [owner, { startedAtMs }] of this.#windows) {
      if (nowMs - startedAtMs >= WINDOW_MS) this.#windows.delete(owner);
    }
  }
}
