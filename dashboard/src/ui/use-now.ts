import { useSyncExternalStore } from 'react';
import { now } from '../browser/clock.ts';

const EVERY_MS = 30_000;

// One clock for all times of a page: hundreds of rows with a timer each would wake at hundreds of moments.
const readers = new Set<() => void>();
let current = now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(reader: () => void): () => void {
  readers.add(reader);
  if (timer === undefined) {
    current = now();
    timer = setInterval(() => {
      current = now();
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
  return useSyncExternalStore(subscribe, () => current);
}
