import type { Logger } from 'pino';
import { SMALL_BODY_BYTES } from '../bodies/held-body.ts';
import type { Timers } from '../clock.ts';
import { bodyNotReadInTime, bodyTooCostly, tooManyBodies } from '../http/body-refusals.ts';
import { FairQueue } from './fair-queue.ts';
import { type ReaderThread, startReaderThread, ThreadEnded } from './reader-thread.ts';
import { READS, type ReadOf, type Reads } from './reads.ts';

// A body of some megabytes takes a second to scan, parse and count, and the thread that serves everybody has no second
// to give. So a small body is read at once, and a large one in a thread of its own, of which there are two at most:
// they start with the first large body, take bodies fairly by organisation, and one that dies is replaced.

const MOST_THREADS = 2;
const MOST_WAITING_OF_OWNER = 256;
// For the wait and for the reading, each.
const TIME_LIMIT_MS = 20_000;
// The heap of a thread before it has read anything, and for each byte of the largest body, beside the text itself.
const BASE_HEAP_MB = 128;
const HEAP_PER_BODY_BYTE = 4;

/** A body that is being read. */
export interface Read<Result> {
  /** What was read, and the body: the memory that it was in before may be gone. Rejects with a Refusal. */
  readonly done: Promise<{ readonly result: Result; readonly body: Buffer }>;
  /** Nobody wants it any more: it rejects with this, if it has not ended. */
  cancel(error: Error): void;
}

export interface BodyReaders {
  /** `owner` is whose turn it takes. */
  read<Kind extends keyof Reads>(
    owner: string,
    kind: Kind,
    endpoint: string,
    body: Buffer,
  ): Read<ReadOf<Kind>>;
  /** How many bodies were given to a thread so far. */
  readonly threadReads: number;
  close(): Promise<void>;
}

interface Job extends PromiseWithResolvers<{ result: ReadOf<keyof Reads>; body: Buffer }> {
  readonly owner: string;
  readonly kind: keyof Reads;
  readonly endpoint: string;
  readonly body: Buffer;
  cancelTimer(): void;
}

export function createBodyReaders(deps: {
  readonly timers: Timers;
  readonly log: Logger;
  readonly bodyLimitBytes: number;
  /** What a thread needs before it has read anything; enough unless given. */
  readonly baseHeapMb?: number;
}): BodyReaders {
  const { timers, log, bodyLimitBytes, baseHeapMb = BASE_HEAP_MB } = deps;
  const heapMb = baseHeapMb + Math.ceil((bodyLimitBytes * HEAP_PER_BODY_BYTE) / 1024 ** 2);
  const queue = new FairQueue<Job>(MOST_WAITING_OF_OWNER);
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

  const run = async (job: Job, thread: ReaderThread) => {
    threadReads += 1;
    job.cancelTimer();
    job.cancelTimer = timers.after(TIME_LIMIT_MS, () => {
      job.reject(bodyNotReadInTime());
      end(thread);
    });
    try {
      const { kind, endpoint } = job;
      const { result, body } = await thread.run({ kind, endpoint, body: ownMemory(job.body) });
      job.resolve({ result, body: Buffer.from(body) });
    } catch (error) {
      const isTooMuch = error instanceof ThreadEnded && error.isOutOfMemory;
      job.reject(isTooMuch ? bodyTooCostly() : error);
    } finally {
      job.cancelTimer();
      queue.done(job.owner);
      assign();
    }
  };

  const assign = () => {
    while (true) {
      const idle = threads.values().find(({ isIdle }) => isIdle);
      if (!idle && threads.size === MOST_THREADS) return;
      const job = queue.next();
      if (!job) return;
      void run(job, idle ?? start());
    }
  };

  const submit = (job: Job): void => {
    if (!queue.add(job.owner, job)) {
      job.reject(tooManyBodies());
      return;
    }
    job.cancelTimer = timers.after(TIME_LIMIT_MS, () => {
      if (queue.remove(job.owner, job)) job.reject(tooManyBodies());
    });
    assign();
  };

  return {
    read<Kind extends keyof Reads>(owner: string, kind: Kind, endpoint: string, body: Buffer) {
      if (body.length <= SMALL_BODY_BYTES) return readHere<Kind>(kind, endpoint, body);
      const job: Job = { ...Promise.withResolvers(), owner, kind, endpoint, body, cancelTimer() {} };
      submit(job);
      return {
        // The thread answers as the kind says.
        done: job.promise as Read<ReadOf<Kind>>['done'],
        cancel(error) {
          if (queue.remove(owner, job)) job.cancelTimer();
          job.reject(error);
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

/** The memory of the bytes, and of nothing else, so that it can be sent away. */
function ownMemory(bytes: Buffer): ArrayBuffer {
  const { buffer, byteLength } = bytes;
  const isOwn = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return isOwn ? buffer : new Uint8Array(bytes).buffer;
}
