import { systemClock } from '@gatehouse/concurrency';

// npm passes on the first Ctrl-C too, so a signal within this time counts as the same one.
const SAME_SIGNAL_MS = 1_000;

export interface StopSignals {
  /** Resolves at the first SIGINT or SIGTERM. */
  readonly requested: Promise<NodeJS.Signals>;
  /** Resolves after the time, or at the next signal. */
  wait(ms: number): Promise<void>;
}

export interface StopSignalsOptions {
  readonly on: (signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void) => unknown;
  readonly kill: () => void;
  readonly monotonicMs: () => number;
}

const OF_THIS_PROCESS: StopSignalsOptions = {
  on: (signal, listener) => process.on(signal, listener),
  kill: () => process.kill(process.pid, 'SIGKILL'),
  monotonicMs: systemClock.monotonicMs,
};

/** The first signal requests a stop, and the next ends a wait. Outside of a wait the next ends the process immediately: the
 *  stores stop by themselves, and everything acknowledged is in the journal. */
export function onStopSignals({ on, kill, monotonicMs }: StopSignalsOptions = OF_THIS_PROCESS): StopSignals {
  const { promise: requested, resolve: request } = Promise.withResolvers<NodeJS.Signals>();
  let lastAtMs: number | undefined;
  let waiting: AbortController | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    const nowMs = monotonicMs();
    const isSame = lastAtMs !== undefined && nowMs - lastAtMs <= SAME_SIGNAL_MS;
    if (isSame) return;
    const isFirst = lastAtMs === undefined;
    lastAtMs = nowMs;
    if (isFirst) request(signal);
    else if (waiting) waiting.abort();
    else kill();
  };
  on('SIGINT', onSignal);
  on('SIGTERM', onSignal);
  return {
    requested,
    async wait(ms) {
      waiting = new AbortController();
      await systemClock.sleep(ms, waiting.signal);
      waiting = undefined;
    },
  };
}
