/**
 * Permits to use the engine. Every running query holds a thread of libuv's pool, and each already uses all processor
 * cores, so few run at once and the rest wait in two queues, reads and writes. A free permit goes to the queues
 * alternately: a burst of reads cannot hold up the request log, nor a burst of inserts the dashboard.
 */
import { exceptions } from './exceptions.ts';

export type QueryKind = 'read' | 'write';

type Waiting = { readonly admit: () => void };

export type QueryPermits = {
  /**
   * Waits for a permit and returns the function that releases it. Throws at once when the queues are full, and when
   * `signal` aborts before the permit is granted.
   */
  acquire(kind: QueryKind, signal: AbortSignal): Promise<() => void>;
  /** How many calls run and wait. */
  count(): number;
};

export function createQueryPermits(limits: {
  readonly running: number;
  readonly waiting: number;
}): QueryPermits {
  const queues: Record<QueryKind, Set<Waiting>> = { read: new Set(), write: new Set() };
  let running = 0;
  let nextKind: QueryKind = 'write';

  function grant(): () => void {
    running++;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      running--;
      admitNext();
    };
  }

  function admitNext(): void {
    const kind = queues[nextKind].size > 0 ? nextKind : other(nextKind);
    const next = queues[kind].values().next().value;
    if (next === undefined || running >= limits.running) return;
    queues[kind].delete(next);
    nextKind = other(kind);
    next.admit();
  }

  return {
    async acquire(kind, signal) {
      if (signal.aborted) throw exceptions.cancelled();
      if (running < limits.running) return grant();
      if (queues.read.size + queues.write.size >= limits.waiting) {
        throw exceptions.tooBusy(`Too many queries: ${running} running and ${limits.waiting} waiting.`);
      }
      const { promise, resolve, reject } = Promise.withResolvers<() => void>();
      const waiting: Waiting = {
        admit: () => {
          signal.removeEventListener('abort', cancel);
          resolve(grant());
        },
      };
      function cancel(): void {
        queues[kind].delete(waiting);
        reject(exceptions.cancelled());
      }
      signal.addEventListener('abort', cancel, { once: true });
      queues[kind].add(waiting);
      return promise;
    },
    count: () => running + queues.read.size + queues.write.size,
  };
}

function other(kind: QueryKind): QueryKind {
  return kind === 'read' ? 'write' : 'read';
}
