import type { Clock, Timers } from '@gatehouse/concurrency';

/** Clients give up after some minutes of silence, and proxies after a minute or less. */
export const SILENCE_MS = 15_000;

/** Calls `ping` whenever nothing was sent for 15 seconds. Returns what stops that. */
export function keepAlive(
  { clock, timers }: { readonly clock: Clock; readonly timers: Timers },
  lastSentAtMs: () => number,
  ping: () => void,
): () => void {
  let cancel: () => void = () => {};
  const watch = (ms: number) => {
    cancel = timers.after(ms, () => {
      const silentMs = clock.monotonicMs() - lastSentAtMs();
      if (silentMs >= SILENCE_MS) ping();
      watch(silentMs >= SILENCE_MS ? SILENCE_MS : SILENCE_MS - silentMs);
    });
  };
  watch(SILENCE_MS);
  return () => cancel();
}
