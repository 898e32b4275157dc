import { createFairScheduler, type Permit, PermitTimeout, QueueFull } from '@gatehouse/concurrency';
import type { Logger } from 'pino';
import { SMALL_BODY_BYTES } from '../bodies/held-body.ts';
import type { Timers } from '../clock.ts';
import { bodyNotReadInTime, bodyTooCostly, tooManyBodies } from '../http/body-refusals.ts';
import { type ReaderThread, startReaderThread, ThreadEnded } from './reader-thread.ts';
import { READS, type ReadOf, type Reads } from './reads.ts';

// Scanning, parsing and counting a body of some megabytes takes a second, which the main thread cannot spare. So a small
// body is read at once, and a large one in a thread of its own. There are two threads at most: they start with the first
// large bodies, are shared fairly by organisation, and one that dies is replaced.

const MAX_THREADS = 2;
const MAX_QUEUED_OF_OWNER = 256;
// For the wait and for the reading, each.
const TIMEOUT_MS = 20_000;
// The heap of a thread before it has read anything, and per byte of the largest body, besides the text itself.
const BASE_HEAP_MB = 128;
const HEAP_PER_BODY_BYTE = 4;

/** A body that is being read. */
export interface Read<Result> {
  /** What was read, and the body: its memory may have moved. Rejects with the error to answer. */
  readonly done: Promise<{ readonly result: Result; readonly body: Buffer }>;
  /** Rejects it with this error, if it has not ended: the result is no longer needed. */
  cancel(error: Error): void;
}

export interface BodyReaders {
  /** `owner` is the tenant of the fair scheduler. */
  read<Kind extends keyof Reads>(
    owner: string,
    kind: Kind,
    endpoint: string,
    body: Buffer,
  ): Read<ReadOf<Kind>>;
  /** How many bodies have been given to a thread. */
  readonly threadReads: number;
  close(): Promise<void>;
}

interface Job<Kind extends keyof Reads> {
  readonly owner: string;
  readonly kind: Kind;
  readonly endpoint: string;
  readonly body: Buffer;
}

export function createBodyReaders(deps: {
  readonly timers: Timers;
  readonly log: Logger;
  readonly bodyLimitBytes: number;
  /** The heap of a thread before it has read anything. */
  readonly baseHeapMb?: number;
}): BodyReaders {
  const { timers, log, bodyLimitBytes, baseHeapMb = BASE_HEAP_MB } = deps;
  const heapMb = baseHeapMb + Math.ceil((bodyLimitBytes * HEAP_PER_BODY_BYTE) / 1024 ** 2);
  const scheduler = createFairScheduler({
    permits: MAX_THREADS,
    permitsPerTenant: MAX_THREADS,
    queuePerTenant: MAX_QUEUED_OF_OWNER,
    timeoutMs: TIMEOUT_MS,
    clock: timers,
  });
  const threads = new Set<ReaderThread>();
  const ending = new Set<Promise<void>>();
  let threadReads = 0;

  const start = (): ReaderThread => {
    const thread = startReaderThread(heapMb, (error) => {
      if (threads.delete(thread))
        log.warn({ err: error.cause }, 'a reader thread ended; the next large body starts another');
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
      throw error instanceof QueueFull || error instanceof PermitTimeout ? tooManyBodies() : error;
    }
  };

  const readInThread = async <Kind extends keyof Reads>(
    { owner, kind, endpoint, body }: Job<Kind>,
    cancelled: AbortSignal,
  ): Promise<{ result: ReadOf<Kind>; body: Buffer }> => {
    using _ = scheduler.tryAcquire(owner) ?? (await permitFor(owner, cancelled));
    // As many threads as permits, so either one is idle or one may be started.
    const thread = threads.values().find(({ isIdle }) => isIdle) ?? start();
    threadReads += 1;
    let isLate = false;
    const cancelTimer = timers.after(TIMEOUT_MS, () => {
      isLate = true;
      end(thread);
    });
    try {
      const read = await thread.run({ kind, endpoint, body: ownMemory(body) });
      // The thread answers with the result of this kind.
      return { result: read.result as ReadOf<Kind>, body: Buffer.from(read.body) };
    } catch (error) {
      if (isLate) throw bodyNotReadInTime();
      throw error instanceof ThreadEnded && error.isOutOfMemory ? bodyTooCostly() : error;
    } finally {
      cancelTimer();
    }
  };

  return {
    read<Kind extends keyof Reads>(owner: string, kind: Kind, endpoint: string, body: Buffer) {
      if (body.length <= SMALL_BODY_BYTES) return readHere<Kind>(kind, endpoint, body);
      const cancelled = new AbortController();
      const { promise, resolve, reject } = Promise.withResolvers<{ result: ReadOf<Kind>; body: Buffer }>();
      readInThread({ owner, kind, endpoint, body }, cancelled.signal).then(resolve, reject);
      return {
        done: promise,
        cancel(error) {
          cancelled.abort(error);
          reject(error);
        },
      };
    },
    get threadReads() {
      return threadReads;
    },
    async close() {
      for (const thread of [...threads]) end(thread);
      await Promise.all(ending);
    },
  };
}

function readHere<Kind extends keyof Reads>(kind: Kind, endpoint: string, body: Buffer): Read<ReadOf<Kind>> {
  const { promise, resolve, reject } = Promise.withResolvers<{ result: ReadOf<Kind>; body: Buffer }>();
  const read = READS[kind] as (body: Buffer, endpoint: string) => Promise<ReadOf<Kind>>;
  read(body, endpoint).then((result) => resolve({ result, body }), reject);
  return { done: promise, cancel: reject };
}

/** The memory of these bytes alone, so that it can be transferred. */
function ownMemory(bytes: Buffer): ArrayBuffer {
  const { buffer, byteLength } = bytes;
  const isOwn = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return isOwn ? buffer : new Uint8Array(bytes).buffer;
}
