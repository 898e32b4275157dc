export const WINDOW_MS = 30_000;
const MIN_JUDGED = 10;
const MAX_SHARE = 0.5;

/** The outcomes of half a minute. */
export class OutcomeWindow {
  failures = 0;
  outcomes = 0;
  #sinceMs = 0;

  /** Begins a new window where the last is over; whether it did. */
  turn(nowMs: number): boolean {
    if (nowMs - this.#sinceMs < WINDOW_MS) return false;
    this.clear();
    this.#sinceMs = nowMs;
    return true;
  }

  count(isFailure: boolean): void {
    this.outcomes += 1;
    if (isFailure) this.failures += 1;
  }

  clear(): void {
    this.failures = 0;
    this.outcomes = 0;
  }

  /** True if there was no failure lately. */
  isQuiet(nowMs: number): boolean {
    return this.failures === 0 || nowMs - this.#sinceMs >= WINDOW_MS;
  }

  /** True if half of the outcomes are failures, where there were enough to judge by. */
  hasTooMany(): boolean {
    return this.outcomes >= MIN_JUDGED && this.failures >= MAX_SHARE * this.outcomes;
  }

  /** The same of the outcomes without these, however few are left. */
  hasTooManyWithout({
    failures,
    outcomes,
  }: {
    readonly failures: number;
    readonly outcomes: number;
  }): boolean {
    const left = this.failures - failures;
    return left > 0 && left >= MAX_SHARE * (this.outcomes - outcomes);
  }
}
