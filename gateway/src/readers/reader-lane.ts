import {
  createFairScheduler,
  type Permit,
  PermitTimeout,
  QueueFull,
  type Timers,
} from '@gatehouse/concurrency';
import type { Logger } from 'pino';
import { type ReaderThread, startReaderThread, ThreadEnded } from './reader-thread.ts';
import type { InputOf, PartialResult, ReadKind, ResultOf } from './reads.ts';

export const MAX_QUEUED_OF_OWNER = 256;
// For the wait and for the reading, each.
export const TIMEOUT_MS = 20_000;

/** Why nothing was read. */
export type ReadFailure =
  | 'queue_full'
  | 'not_begun_in_time'
  | 'not_read_in_time'
  | 'too_large'
  | 'thread_ended';

export class ReadError extends Error {
  override readonly name = 'ReadError';
  readonly failure: ReadFailure;

  constructor(failure: ReadFailure, cause?: unknown) {
    super(`a body was not read: ${failure}`, { cause });
    this.failure = failure;
  }
}

export interface Job<Kind extends ReadKind> {
  /** Whose share of the threads it takes. */
  readonly owner: string;
  readonly kind: Kind;
  readonly input: InputOf<Kind>;
  readonly blocks: readonly Uint8Array<ArrayBuffer>[];
}

/**
 * Reader threads for bodies of about the same size, taken fairly by organisation. They start with the first body, and one that
 * ends is replaced.
 */
export interface ReaderLane {
  /** Moves the memory of the body. Throws a ReadError, or the signal's reason where it aborts before a thread has begun. */
  read<Kind extends ReadKind>(job: Job<Kind>, cancelled: AbortSignal): Promise<PartialResult<ResultOf<Kind>>>;
  /** How many were given to a thread so far. */
  readonly reads: number;
  /** How many wait for a thread. */
  waiting(): number;
  close(): Promise<void>;
}

export function createReaderLane({
  timers,
  log,
  maxThreads,
  heapMb,
  countMs,
}: {
  readonly timers: Timers;
  readonly log: Logger;
  readonly maxThreads: number;
  /** The heap of each thread. */
  readonly heapMb: number;
  /** For how long the tokens of a body are counted, in processor time. */
  readonly countMs: number;
}): ReaderLane {
  const scheduler = createFairScheduler({
    permits: maxThreads,
    permitsPerTenant: maxThreads,
    queuePerTenant: MAX_QUEUED_OF_OWNER,
    timeoutMs: TIMEOUT_MS,
    clock: timers,
  });
  const threads = new Set<ReaderThread>();
  const ending = new Set<Promise<void>>();
  let reads = 0;

  const start = (): ReaderThread => {
    const thread = startReaderThread(heapMb, (error) => {
      if (threads.delete(thread))
        log.warn(
          { event: 'reader.thread_ended', err: error.cause },
          'reader thread ended; the next large body starts another',
        );
    });
    threads.add(thread);
    return thread;
  };

  const end = (thread: ReaderThread) => {
    threads.delete(thread);
    const ended = thread.end().finally(() => ending.delete(ended));
    ending.add(ended);
  };

  const permitFor = async (owner: string, signal: AbortSignal): Promise<Permit> => {
    try {
      return await scheduler.acquire(owner, signal);
    } catch (error) {
      if (error instanceof QueueFull) throw new ReadError('queue_full');
      throw error instanceof PermitTimeout ? new ReadError('not_begun_in_time') : error;
    }
  };

  return {
    async read<Kind extends ReadKind>(job: Job<Kind>, cancelled: AbortSignal) {
      cancelled.throwIfAborted();
      using _ = scheduler.tryAcquire(job.owner) ?? (await permitFor(job.owner, cancelled));
      // As many threads as permits, so either one is idle or one may be started.
      const thread = threads.values().find(({ isIdle }) => isIdle) ?? start();
      reads += 1;
      let isLate = false;
      const cancelTimer = timers.after(TIMEOUT_MS, () => {
        isLate = true;
        end(thread);
      });
      try {
        const { result, body, rest } = await thread.run({ ...job, countMs });
        // It was ready at the moment at which its thread was ended.
        if (isLate) throw new ReadError('not_read_in_time');
        // The thread answers with the result of this kind.
        return { result: result as ResultOf<Kind>, body: Buffer.from(body), rest };
      } catch (error) {
        if (isLate) throw new ReadError('not_read_in_time');
        const isTooLarge = error instanceof ThreadEnded && error.isOutOfMemory;
        throw new ReadError(isTooLarge ? 'too_large' : 'thread_ended', error);
      } finally {
        cancelTimer();
      }
    },
    get reads() {
      return reads;
    },
    waiting: () => scheduler.waiting(),
    async close() {
      for (const thread of [...threads]) end(thread);
      await Promise.all(ending);
    },
  };
}
