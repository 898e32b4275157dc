const PERIOD_MS = 60_000;

/**
 * How many gateway processes share the rates: the most that were there at once in the last minutes. A Redis that has just
 * begun knows only those that have reached it, so a count falls after a whole minute of counting.
 */
export class GatewayCount {
  readonly #monotonicMs: () => number;
  readonly #atLeast: number;
  #most: number;
  #mostSince = 0;
  #sinceMs: number;

  /** `atLeast` holds always. */
  constructor(monotonicMs: () => number, atLeast: number) {
    this.#monotonicMs = monotonicMs;
    this.#atLeast = atLeast;
    this.#most = atLeast;
    this.#sinceMs = monotonicMs();
  }

  get most(): number {
    return this.#most;
  }

  add(count: number): void {
    const nowMs = this.#monotonicMs();
    if (nowMs - this.#sinceMs >= PERIOD_MS && this.#mostSince > 0) {
      this.#most = this.#mostSince;
      this.#mostSince = 0;
      this.#sinceMs = nowMs;
    }
    this.#mostSince = Math.max(this.#mostSince, count);
    this.#most = Math.max(this.#most, count, this.#atLeast);
  }

  /** To be called when counting begins again. */
  restart(): void {
    this.#mostSince = 0;
    this.#sinceMs = this.#monotonicMs();
  }
}
