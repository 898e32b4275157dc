import type { Timers } from '@gatehouse/concurrency';

/** How long a body may take for each `PACE_BYTES` of it, or for its rest. */
const PACE_MS = 5_000;
const PACE_BYTES = 80 * 1024;

/** The least pace of a body, in words. */
export const MIN_PACE = `${PACE_BYTES / 1024} KiB in any ${PACE_MS / 1_000} seconds`;

/** Calls `onSlow` when a body does not keep pace. Returns what ends the watch. */
export function watchPace(timers: Timers, receivedBytes: () => number, onSlow: () => void): () => void {
  let isWatching = true;
  let before = 0;
  const judge = () => {
    const now = receivedBytes();
    if (now - before < PACE_BYTES) return onSlow();
    before = now;
    cancel = timers.after(PACE_MS, look);
  };
  // What came while this process was busy is read before it is judged.
  const look = () => setImmediate(() => isWatching && judge());
  let cancel = timers.after(PACE_MS, look);
  return () => {
    isWatching = false;
    cancel();
  };
}
