import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock, type Timers } from '@gatehouse/concurrency';

// A start allocates much and keeps little of it, and a process that then has little to do is not collected for hours. One
// collection gives back 30 MB of the main process. It takes 0.1 s of the main thread, so it waits for a second in which there was
// nothing to do. A gateway process keeps what its young generation grew to: without it a stream costs a tenth more.

const LOOK_MS = 1_000;
/** A process that was busy for so long has collected by itself. */
const MAX_LOOKS = 60;
const MAX_BUSY_SHARE = 0.05;

export interface StartGarbageOptions {
  readonly timers?: Timers;
  /** Returns the busy share of this thread, from 0 to 1, since the last call. */
  readonly busyShare?: () => number;
  readonly collect?: () => void;
}

/** Collects the garbage of the start once, as soon as this process is idle. To be called when it serves. */
export function collectStartGarbage({
  timers = systemClock,
  busyShare = measureBusyShare(),
  collect = collectGarbage,
}: StartGarbageOptions = {}): void {
  const look = (left: number) => {
    if (busyShare() <= MAX_BUSY_SHARE) collect();
    else if (left > 1) timers.after(LOOK_MS, () => look(left - 1));
  };
  timers.after(LOOK_MS, () => look(MAX_LOOKS));
}

function measureBusyShare(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

/**
 * Collects all that there is to collect in this process, and gives the memory back at once: after a usual collection V8 keeps it
 * until it finds that little is allocated. V8 shows its function only to contexts that are made after this option.
 */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: (options: object) => void = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
