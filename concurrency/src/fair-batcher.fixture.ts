import { createFairBatcher, type FairBatcherOptions } from './fair-batcher.ts';

/** Resolves after this turn of the event loop and the continuations of what it settled. */
export const turn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

export class Unavailable extends Error {}

/** A batcher whose batches are answered by the test, each item by itself. */
export function start(given: Partial<FairBatcherOptions<string, string>> = {}) {
  let nowMs = 0;
  const timers = new Set<{ readonly atMs: number; readonly callback: () => void }>();
  const sent: {
    items: readonly string[];
    isShared: boolean;
    answer: () => void;
    fail: (error: Error) => void;
  }[] = [];
  const batcher = createFairBatcher<string, string>({
    send(items, isShared) {
      const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
      sent.push({ items, isShared, answer: () => resolve(items), fail: reject });
      return promise;
    },
    isUnavailable: (error) => error instanceof Unavailable,
    mostPerBatch: 4,
    batches: 1,
    batchesAlone: 1,
    queuePerTenant: 100,
    queueTotal: 1_000,
    timeoutMs: 1_000,
    clock: {
      monotonicMs: () => nowMs,
      after(ms, callback) {
        const timer = { atMs: nowMs + ms, callback };
        timers.add(timer);
        return () => timers.delete(timer);
      },
    },
    ...given,
  });
  return {
    batcher,
    sent,
    asked: () => sent.map(({ items }) => items.join(' ')),
    /** Submits items, which are named by tenant and number. */
    submit: (...items: string[]) =>
      items.map((item) => {
        const queued = batcher.submit(item[0] ?? '', item);
        // A test looks at it later, or not at all.
        queued.answer.catch(() => {});
        return queued;
      }),
    async next(index: number) {
      sent[index]?.answer();
      await turn();
    },
    async fail(index: number, error: Error) {
      sent[index]?.fail(error);
      await turn();
    },
    async advance(ms: number) {
      nowMs += ms;
      for (const timer of timers) {
        if (timer.atMs > nowMs) continue;
        timers.delete(timer);
        timer.callback();
      }
      await turn();
    },
  };
}

export const statuses = async (queued: readonly { readonly answer: Promise<unknown> }[]) =>
  (await Promise.allSettled(queued.map(({ answer }) => answer))).map((one) =>
    one.status === 'fulfilled' ? one.value : one.reason.constructor.name,
  );
