import { type Clock, systemClock } from './clock.ts';

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
  const aborted = new AbortController();
  const finished = new AbortController();
  const timeout = clock.sleep(ms, finished.signal).then(() => {
    if (finished.signal.aborted) return undefined as never;
    const error = makeError();
    aborted.abort(error);
    throw error;
  });
  try {
    return await Promise.race([typeof work === 'function' ? work(aborted.signal) : work, timeout]);
  } finally {
    // Without a reason, an exception with a stack would be made each time.
    finished.abort(null);
  }
}

/** Whether `work` finished within `ms`. It goes on either way. Throws what it throws within that time. */
export async function finishesWithin(
  work: Promise<unknown>,
  ms: number,
  clock: Pick<Clock, 'sleep'> = systemClock,
): Promise<boolean> {
  const finished = new AbortController();
  try {
    return await Promise.race([
      work.then(() => true),
      clock.sleep(ms, finished.signal).then(() => finished.signal.aborted),
    ]);
  } finally {
    finished.abort(null);
  }
}
