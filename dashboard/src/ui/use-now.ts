import { useSyncExternalStore } from 'react';

const EVERY_MS = 30_000;

// One clock for all times of a page: hundreds of rows with a timer each would wake at hundreds of moments.
const readers = new Set<() => void>();
let now = new Date();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(reader: () => void): () => void {
  readers.add(reader);
  if (timer === undefined) {
    now = new Date();
    timer = setInterval(() => {
      now = new Date();
      for (const each of readers) each();
    }, EVERY_MS);
  }
  return () => {
    readers.delete(reader);
    if (readers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The time of now, every half minute. */
export function useNow(): Date {
  return useSyncExternalStore(subscribe, () => now);
}
