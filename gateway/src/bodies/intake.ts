import { systemClock, type Timers } from '@gatehouse/concurrency';

// Reading costs time on the main thread, whatever is done with the bytes: one sender on a fast network could keep that
// thread busy. So what is read in an interval is bounded, in all and for each organisation, and a source beyond that is
// paused until a later interval, first come first served. What came beyond an interval's bound is paid back in the next
// ones. Small bodies and answers at the speed of a model never wait.

export const INTERVAL_MS = 10;
// 64 MiB a second of all, and 16 of one owner: a little more than a network of 100 Mbit/s brings.
export const BYTES_PER_INTERVAL = 0.64 * 1024 ** 2;
export const BYTES_PER_INTERVAL_OF_OWNER = BYTES_PER_INTERVAL / 4;
// What a connection hands over at a time.
const PIECE_BYTES = 64 * 1024;

/** A source of bytes that can be paused: a request, or a provider's answer. */
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
  /** The sources resumed in this interval, each with a piece that is counted already. */
  readonly #resumed = new Set<Source>();
  #isTiming = false;

  constructor(timers: Timers = systemClock) {
    this.#timers = timers;
  }

  /** To be called for what has come of a large body; pauses the source where that was enough for this interval. */
  count(owner: string, source: Source, bytes: number): void {
    const counted = this.#resumed.delete(source) ? PIECE_BYTES : 0;
    this.#add(owner, Math.max(0, bytes - counted));
    this.#startInterval();
    if (this.#hasRoom(owner)) return;
    this.#waiting.set(source, owner);
    source.pause();
  }

  #startInterval(): void {
    if (this.#isTiming) return;
    this.#isTiming = true;
    this.#timers.after(INTERVAL_MS, () => this.#endInterval());
  }

  #endInterval(): void {
    this.#isTiming = false;
    this.#bytes = Math.max(0, this.#bytes - BYTES_PER_INTERVAL);
    for (const [owner, bytes] of this.#bytesOf) {
      if (bytes > BYTES_PER_INTERVAL_OF_OWNER) this.#bytesOf.set(owner, bytes - BYTES_PER_INTERVAL_OF_OWNER);
      else this.#bytesOf.delete(owner);
    }
    this.#resumed.clear();
    for (const [source, owner] of this.#waiting) {
      if (source.destroyed) this.#waiting.delete(source);
      if (source.destroyed || !this.#hasRoom(owner)) continue;
      this.#add(owner, PIECE_BYTES);
      this.#waiting.delete(source);
      this.#resumed.add(source);
    }
    // Only now: one that goes on may have to wait again at once.
    for (const source of [...this.#resumed]) source.resume();
    if (this.#bytesOf.size > 0 || this.#waiting.size > 0) this.#startInterval();
  }

  /** An owner pays back by itself the bytes that it takes beyond its share; nobody else waits for that. */
  #add(owner: string, bytes: number): void {
    const before = this.#bytesOf.get(owner) ?? 0;
    this.#bytesOf.set(owner, before + bytes);
    this.#bytes += Math.min(bytes, Math.max(0, BYTES_PER_INTERVAL_OF_OWNER - before));
  }

  #hasRoom(owner: string): boolean {
    const ofOwner = this.#bytesOf.get(owner) ?? 0;
    return this.#bytes < BYTES_PER_INTERVAL && ofOwner < BYTES_PER_INTERVAL_OF_OWNER;
  }
}

/** The intake of this process, which has one thread that reads. */
export const intake = new Intake();
