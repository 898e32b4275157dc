/** How long tokens may be counted. */
export interface CountTime {
  /** Time in milliseconds that never goes back: of a clock, or the processor time of a thread. */
  now(): number;
  /** How many milliseconds there are; 0 where they are used up. */
  available(): number;
  /** Adds to the milliseconds that were used. */
  use(milliseconds: number): void;
}

// A leaky bucket of milliseconds: so many at once, and a share of the time.
interface Share {
  readonly burstMs: number;
  readonly perMs: number;
}

// Of the main thread, which serves everybody. An organisation has a small part of its own, so that it finds time however many
// others count expensive text, and beyond that a part that all share. What finds no time is counted in a reader thread.
export const OWN: Share = { burstMs: 4, perMs: 0.01 };
export const SHARED: Share = { burstMs: 8, perMs: 0.1 };
/** Buckets of so many organisations are kept before empty ones are looked for. */
const KEPT_BUCKETS = 1_000;

class Bucket {
  readonly #share: Share;
  #level = 0;
  #atMs: number;

  constructor(share: Share, nowMs: number) {
    this.#share = share;
    this.#atMs = nowMs;
  }

  available(nowMs: number): number {
    this.#level = Math.max(0, this.#level - (nowMs - this.#atMs) * this.#share.perMs);
    this.#atMs = nowMs;
    return Math.max(0, this.#share.burstMs - this.#level);
  }

  isEmpty(nowMs: number): boolean {
    return this.available(nowMs) === this.#share.burstMs;
  }

  /** A debt is one burst at most: what is counted in any case must not keep others out for long. */
  use(milliseconds: number): void {
    this.#level = Math.min(this.#level + milliseconds, 2 * this.#share.burstMs);
  }
}

/** The time of the main thread, for each organisation. */
export class CountTimes {
  readonly #now: () => number;
  readonly #shared: Bucket;
  readonly #own = new Map<string, Bucket>();
  #sweepAt = KEPT_BUCKETS;

  constructor(now: () => number) {
    this.#now = now;
    this.#shared = new Bucket(SHARED, now());
  }

  /** How many organisations have a bucket. */
  get size(): number {
    return this.#own.size;
  }

  of(owner: string): CountTime {
    return {
      now: this.#now,
      available: () => {
        const nowMs = this.#now();
        return (this.#own.get(owner)?.available(nowMs) ?? OWN.burstMs) + this.#shared.available(nowMs);
      },
      use: (milliseconds) => {
        const nowMs = this.#now();
        const own = this.#bucketOf(owner, nowMs);
        const ofOwn = Math.min(milliseconds, own.available(nowMs));
        own.use(ofOwn);
        this.#shared.available(nowMs);
        this.#shared.use(milliseconds - ofOwn);
      },
    };
  }

  #bucketOf(owner: string, nowMs: number): Bucket {
    const known = this.#own.get(owner);
    if (known) return known;
    if (this.#own.size >= this.#sweepAt) {
      for (const [name, bucket] of this.#own) if (bucket.isEmpty(nowMs)) this.#own.delete(name);
      this.#sweepAt = Math.max(KEPT_BUCKETS, 2 * this.#own.size);
    }
    const bucket = new Bucket(OWN, nowMs);
    this.#own.set(owner, bucket);
    return bucket;
  }
}

/** Allows so many milliseconds, once. */
export function onceFor(milliseconds: number, now: () => number): CountTime {
  let left = milliseconds;
  return {
    now,
    available: () => Math.max(0, left),
    use(used) {
      left -= used;
    },
  };
}
