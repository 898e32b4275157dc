import type { Clock } from '@gatehouse/concurrency';
import { type Exchange, stopped } from '../exchange/exchange.ts';
import type { Breakers, UsedUpstream } from './breakers.ts';

/** How many requests wait at most. Each holds its body and its credit meanwhile. */
const MAX_WAITING = 1_000;
const MAX_WAITING_OF_ONE = 100;

export interface CoolingQueueOptions {
  readonly breakers: Breakers;
  readonly clock: Pick<Clock, 'monotonicMs' | 'after'>;
  readonly most?: number;
  readonly mostOfOne?: number;
}

/** The queue of requests while no upstream of theirs can be tried. */
export class CoolingQueue {
  readonly #options: CoolingQueueOptions;
  readonly #most: number;
  readonly #mostOfOne: number;
  readonly #ofOwner = new Map<string, number>();
  #all = 0;

  constructor(options: CoolingQueueOptions) {
    const { most = MAX_WAITING, mostOfOne = MAX_WAITING_OF_ONE } = options;
    this.#options = options;
    this.#most = most;
    this.#mostOfOne = mostOfOne;
  }

  /** How many wait now. */
  get size(): number {
    return this.#all;
  }

  /**
   * Waits until one of the upstreams may be usable, at most so long. False at once where too many wait. Throws where the
   * request must stop.
   */
  async wait(
    owner: string,
    names: readonly UsedUpstream[],
    mostMs: number,
    exchange: Pick<Exchange, 'onStop' | 'throwIfStopped'>,
  ): Promise<boolean> {
    exchange.throwIfStopped();
    const ofOwner = this.#ofOwner.get(owner) ?? 0;
    if (this.#all >= this.#most || ofOwner >= this.#mostOfOne) return false;
    this.#ofOwner.set(owner, ofOwner + 1);
    this.#all += 1;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const { breakers, clock } = this.#options;
    const soonestMs = Math.min(...names.map((name) => breakers.readyAtMs(name))) - clock.monotonicMs();
    const cancel = clock.after(Math.max(Math.min(soonestMs, mostMs), 1), resolve);
    const unwatch = breakers.watch(resolve);
    exchange.onStop = (reason) => reject(stopped(reason));
    try {
      await promise;
      return true;
    } finally {
      exchange.onStop = undefined;
      unwatch();
      cancel();
      this.#all -= 1;
      const left = (this.#ofOwner.get(owner) ?? 0) - 1;
      if (left > 0) this.#ofOwner.set(owner, left);
      else this.#ofOwner.delete(owner);
    }
  }
}
