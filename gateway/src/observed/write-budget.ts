import { OwnerMinutes } from '../exchange/owner-minutes.ts';

/** The limits of writes in a minute. */
export interface WriteLimits {
  /** One by one, of one key. */
  readonly singlesOfKey: number;
  /** One by one, of one owner. */
  readonly singles: number;
  /** Counts, of one owner. */
  readonly counts: number;
}

interface Written {
  singles: number;
  counts: number;
  readonly singlesByKey: Map<string, number>;
}

/** How much each owner has had written in its minute. Of one owner no more keys are kept than were written one by one. */
export class WriteBudget {
  readonly #limits: WriteLimits;
  readonly #minutes: OwnerMinutes<Written>;

  /** `monotonicMs` is a clock that never goes back. */
  constructor(limits: WriteLimits, monotonicMs: () => number) {
    this.#limits = limits;
    const begin = () => ({ singles: 0, counts: 0, singlesByKey: new Map<string, number>() });
    this.#minutes = new OwnerMinutes<Written>(begin, monotonicMs);
  }

  /** True if one more of the key may be written by itself; then it counts as written. */
  takeSingle(owner: string, key: string): boolean {
    const { singlesOfKey, singles } = this.#limits;
    const written = this.#minutes.of(owner);
    const ofKey = written.singlesByKey.get(key) ?? 0;
    if (ofKey >= singlesOfKey || written.singles >= singles) return false;
    written.singlesByKey.set(key, ofKey + 1);
    written.singles += 1;
    return true;
  }

  /** True if one more count may be begun, which is to be written later. */
  takeCount(owner: string): boolean {
    const written = this.#minutes.of(owner);
    if (written.counts >= this.#limits.counts) return false;
    written.counts += 1;
    return true;
  }

  /** Owners that are remembered. */
  get size(): number {
    return this.#minutes.size;
  }
}
