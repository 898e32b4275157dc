import { systemClock, type Timers } from '@gatehouse/concurrency';

/** Lets one after the other through, in the order in which they came, with a least distance between them. */
export interface SharedPace {
  /** Calls `begin`, a function of its own, in its turn: at once where none was let through a moment ago. Returns what takes it out of
   *  the queue, and says whether it was still there. */
  wait(begin: () => void): () => boolean;
}

export function createSharedPace(everyMs: number, timers: Timers = systemClock): SharedPace {
  /** In the order in which they came. */
  const queue = new Set<() => void>();
  /** One was let through a moment ago. */
  let isTiming = false;

  const letThrough = (): void => {
    isTiming = false;
    const [begin] = queue;
    if (!begin) return;
    queue.delete(begin);
    isTiming = true;
    timers.after(everyMs, letThrough);
    begin();
  };

  return {
    wait(begin) {
      queue.add(begin);
      if (!isTiming) letThrough();
      return () => queue.delete(begin);
    },
  };
}
