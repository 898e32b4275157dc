import { realTimers, type Timers } from '../clock.ts';

// Reading costs the thread that serves everybody, whatever the body is read for: one caller on a fast network, refused
// or not, would send enough to keep that thread busy. So what is read in a moment is bounded, for all and for each owner,
// and a body beyond that waits for a later moment, in the order in which they came. Small bodies never wait.

const MOMENT_MS = 10;
// 64 MiB a second of all, and 16 of one owner: a little more than a network of 100 Mbit/s brings.
const BYTES_IN_MOMENT = 0.64 * 1024 ** 2;
const BYTES_IN_MOMENT_OF_OWNER = BYTES_IN_MOMENT / 4;
// What a connection hands over at a time.
const PIECE_BYTES = 64 * 1024;

/** What bytes come from, and can be paused: a request, or a provider's answer. */
export interface Source {
  readonly destroyed: boolean;
  pause(): unknown;
  resume(): unknown;
}

export class Intake {
  readonly #timers: Timers;
  readonly #bytesOf = new Map<string, number>();
  #bytes = 0;
  /** The sources that wait, with their owners. */
  readonly #waiting = new Map<Source, string>();
  /** Those that were let go on in this moment, each with a piece that is counted already. */
  readonly #goingOn = new Set<Source>();
  #isTiming = false;

  constructor(timers: Timers = realTimers) {
    this.#timers = timers;
  }

  /** To be called for what has come of a large body; pauses the source where that was enough for the moment. */
  count(owner: string, source: Source, bytes: number): void {
    const counted = this.#goingOn.delete(source) ? PIECE_BYTES : 0;
    this.#add(owner, Math.max(0, bytes - counted));
    this.#startMoment();
    if (this.#hasRoom(owner)) return;
    this.#waiting.set(source, owner);
    source.pause();
  }

  #startMoment(): void {
    if (this.#isTiming) return;
    this.#isTiming = true;
    this.#timers.after(MOMENT_MS, () => this.#endMoment());
  }

  #endMoment(): void {
    this.#isTiming = false;
    this.#bytes = 0;
    this.#bytesOf.clear();
    this.#goingOn.clear();
    for (const [source, owner] of this.#waiting) {
      if (source.destroyed) this.#waiting.delete(source);
      if (source.destroyed || !this.#hasRoom(owner)) continue;
      this.#add(owner, PIECE_BYTES);
      this.#waiting.delete(source);
      this.#goingOn.add(source);
    }
    // Only now: one that goes on may have to wait again at once.
    for (const source of [...this.#goingOn]) source.resume();
    if (this.#waiting.size + this.#goingOn.size > 0) this.#startMoment();
  }

  #add(owner: string, bytes: number): void {
    this.#bytes += bytes;
    this.#bytesOf.set(owner, (this.#bytesOf.get(owner) ?? 0) + bytes);
  }

  #hasRoom(owner: string): boolean {
    const ofOwner = this.#bytesOf.get(owner) ?? 0;
    return this.#bytes < BYTES_IN_MOMENT && ofOwner < BYTES_IN_MOMENT_OF_OWNER;
  }
}

/** That of this process: it has one thread that reads. */
export const intake = new Intake();
