import { setImmediate } from 'node:timers/promises';

const LIMIT_MS = 30_000;

/** Checks after every turn of the event loop until it is so. Throws what did not happen within the limit. */
export async function waitUntil(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  limitMs = LIMIT_MS,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`not within ${limitMs} ms: ${what}`);
    await setImmediate();
  }
}

/** Throws what did not happen if the work takes longer than the limit. */
export async function within<T>(what: string, limitMs: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`not within ${limitMs} ms: ${what}`)), limitMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
