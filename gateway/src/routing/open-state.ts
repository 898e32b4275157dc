/** When and how long an upstream is not used. */
export interface Opening {
  readonly untilMs: number;
  /** True if the provider said so itself. Otherwise it is only likely that it fails. */
  readonly isStated: boolean;
  readonly reason: string;
}

/** The effect of an outcome on a breaker. */
export type Change = 'opened' | 'closed' | undefined;

/** The first time that it opens; twice as long each further time. */
const MIN_OPEN_MS = 1_000;
const MAX_OPEN_MS = 60_000;
const MAX_DOUBLINGS = 16;

/** True if a breaker is open, and for how long it opens the next time. */
export class OpenState {
  /** How often it opened in a row. */
  #openings = 0;
  #openedMs = 0;
  #opening: Opening | undefined;

  /** Undefined while it is closed. Past its time it is half open. */
  get opening(): Opening | undefined {
    return this.#opening;
  }

  /** For how long it opens next, unless something else is known. */
  get backoffMs(): number {
    return Math.min(MIN_OPEN_MS * 2 ** this.#openings, MAX_OPEN_MS);
  }

  /** True if an outcome says something about now: what was sent before it opened does not. */
  isAbout(sentMs: number): boolean {
    return this.#opening === undefined || sentMs >= this.#openedMs;
  }

  isOpen(nowMs: number): boolean {
    return this.#opening !== undefined && nowMs < this.#opening.untilMs;
  }

  open(ms: number, isStated: boolean, reason: string, nowMs: number): Change {
    const untilMs = nowMs + Math.max(ms, MIN_OPEN_MS);
    const before = this.#opening;
    // What the provider says counts more than what is only likely.
    if (before && before.untilMs >= untilMs && before.isStated === isStated) return undefined;
    this.#opening = { untilMs, isStated, reason };
    this.#openedMs = nowMs;
    this.#openings = Math.min(this.#openings + 1, MAX_DOUBLINGS);
    // One that is told to wait longer, while it waits, is no news.
    return before && nowMs < before.untilMs ? undefined : 'opened';
  }

  close(): void {
    this.#opening = undefined;
    this.#openings = 0;
  }
}
