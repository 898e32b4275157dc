import { type Clock, MAX_DELAY_MS, systemClock } from './clock.ts';

/**
 * The result of `work`. After `ms` it throws `makeError()` instead. Work given as a function gets a signal that aborts
 * with that error; work given as a promise goes on unobserved, so whatever it changes may still take effect.
 */
export async function withTimeout<T>(
  work: Promise<T> | ((signal: AbortSignal) => Promise<T>),
  ms: number,
  makeError: () => Error,
  clock: Pick<Clock, 'sleep'> = systemClock,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const aborted = typeof work === 'function' ? new AbortController() : undefined;
  const cancel = startTimer(clock, ms, () => {
    const error = makeError();
    aborted?.abort(error);
    reject(error);
  });
  try {
    (typeof work === 'function' ? work((aborted as AbortController).signal) : work).then(resolve, reject);
    return await promise;
  } finally {
    cancel();
  }
}

/** True if `work` finished within `ms`. It goes on either way. Throws what it throws within that time. */
export async function finishesWithin(
  work: Promise<unknown>,
  ms: number,
  clock: Pick<Clock, 'sleep'> = systemClock,
): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const cancel = startTimer(clock, ms, () => resolve(false));
  work.then(() => resolve(true), reject);
  try {
    return await promise;
  } finally {
    cancel();
  }
}

/** Unlike `Clock.after` it keeps the process running, as what waits for it does. */
function startTimer(clock: Pick<Clock, 'sleep'>, ms: number, onTime: () => void): () => void {
  if (clock === systemClock) {
    // Every request waits for a few: without a signal, its listener and its event.
    const timer = setTimeout(onTime, Math.min(ms, MAX_DELAY_MS));
    return () => clearTimeout(timer);
  }
  const cancelled = new AbortController();
  void clock.sleep(ms, cancelled.signal).then(() => {
    if (!cancelled.signal.aborted) onTime();
  });
  // Without a reason, an exception with a stack would be made each time.
  return () => cancelled.abort(null);
}
