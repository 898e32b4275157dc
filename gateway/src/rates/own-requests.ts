// What one gateway process has let pass in the last minute by its own clock, and what was left when the counter last answered.

const WINDOW_MS = 60_000;
const FIRST_ROOM = 4;

/** A request that still counts. Its time, in microseconds by the counter's clock, is negative when the counter has not heard of it. */
export interface OwnRequest {
  readonly timeUs: number;
  readonly ageMs: number;
}

/** The requests of one key, in a ring of pairs: when by the clock of this process, and when by the counter's. */
export class KeyRequests {
  size = 0;
  /** Questions to the counter without an answer. Each may turn out to be a request. */
  pending = 0;
  /** How many requests this process may have here until `capUntilMs`. */
  cap = Infinity;
  capUntilMs = -Infinity;
  #ring = new Float64Array(2 * FIRST_ROOM);
  #first = 0;

  atMs(index: number): number {
    return this.#ring[this.#placeOf(index)] as number;
  }

  timeUs(index: number): number {
    return this.#ring[this.#placeOf(index) + 1] as number;
  }

  add(atMs: number, timeUs: number): void {
    if (2 * this.size === this.#ring.length) this.#grow();
    const place = this.#placeOf(this.size);
    this.#ring[place] = atMs;
    this.#ring[place + 1] = timeUs;
    this.size += 1;
  }

  markTold(index: number): void {
    this.#ring[this.#placeOf(index) + 1] = Math.abs(this.timeUs(index));
  }

  dropUntil(timeMs: number): void {
    while (this.size > 0 && this.atMs(0) <= timeMs) {
      this.#first = this.#placeOf(1);
      this.size -= 1;
    }
  }

  #placeOf(index: number): number {
    return (this.#first + 2 * index) % this.#ring.length;
  }

  #grow(): void {
    const ring = new Float64Array(2 * this.#ring.length);
    for (let index = 0; index < this.size; index += 1) {
      ring[2 * index] = this.atMs(index);
      ring[2 * index + 1] = this.timeUs(index);
    }
    this.#ring = ring;
    this.#first = 0;
  }
}

export class OwnRequests {
  readonly #monotonicMs: () => number;
  readonly #keys = new Map<string, KeyRequests>();
  readonly #untold = new Set<string>();
  #sweptAtMs: number;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
    this.#sweptAtMs = monotonicMs();
  }

  keyIds(): string[] {
    return [...this.#keys.keys()];
  }

  /** The keys of which the counter has not heard all. */
  untoldKeyIds(): string[] {
    return [...this.#untold];
  }

  /** The requests of a key that still count. */
  of(keyId: string): KeyRequests {
    const nowMs = this.#monotonicMs();
    this.#sweep(nowMs);
    let requests = this.#keys.get(keyId);
    if (!requests) {
      requests = new KeyRequests();
      this.#keys.set(keyId, requests);
    }
    requests.dropUntil(nowMs - WINDOW_MS);
    return requests;
  }

  add(keyId: string, timeUs: number): void {
    this.of(keyId).add(this.#monotonicMs(), timeUs);
    if (timeUs < 0) this.#untold.add(keyId);
  }

  /** The requests of a key, which the counter has heard of after this. */
  tell(keyId: string): OwnRequest[] {
    const requests = this.of(keyId);
    const nowMs = this.#monotonicMs();
    this.#untold.delete(keyId);
    return Array.from({ length: requests.size }, (_, index) => {
      const told = { timeUs: requests.timeUs(index), ageMs: nowMs - requests.atMs(index) };
      requests.markTold(index);
      return told;
    });
  }

  // A later request removes keys that went quiet, so no timer has to run.
  #sweep(nowMs: number): void {
    if (nowMs - this.#sweptAtMs < WINDOW_MS) return;
    this.#sweptAtMs = nowMs;
    for (const [keyId, requests] of this.#keys) {
      requests.dropUntil(nowMs - WINDOW_MS);
      if (requests.size > 0 || requests.pending > 0 || requests.capUntilMs > nowMs) continue;
      this.#keys.delete(keyId);
      this.#untold.delete(keyId);
    }
  }
}
