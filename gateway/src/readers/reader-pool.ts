import type { Timers } from '@gatehouse/concurrency';
import {
  BACKGROUND_THREADS,
  createFairScheduler,
  type Permit,
  PermitTimeout,
  QueueFull,
} from '@gatehouse/concurrency';
import type { Logger } from 'pino';
import { type ByteBlocks, joinBlocks, ownMemory } from '../bodies/byte-blocks.ts';
import { SMALL_BODY_BYTES } from '../bodies/held-body.ts';
import { countTokens } from '../tokens/count-tokens.ts';
import { type ReaderThread, startReaderThread, ThreadEnded } from './reader-thread.ts';
import { type InputOf, READS, type ReadKind, type ReadResult, type ResultOf } from './reads.ts';

// Scanning, parsing and counting a body of some megabytes takes a second, and the main thread serves all callers. So a
// small body is read at once, and a large one, of a request or of a provider's answer, in a reader thread. There are
// two at most, with a lower priority than the main thread. They start with the first large body, take bodies fairly by
// organisation, and one that ends is replaced.

const MAX_QUEUED_OF_OWNER = 256;
// For the wait and for the reading, each.
const TIMEOUT_MS = 20_000;
// The heap of a thread before it has read anything, and for each byte of the largest body, beside the text itself.
const BASE_HEAP_MB = 128;
const HEAP_PER_BODY_BYTE = 4;
/** Texts up to here are counted on the main thread: some milliseconds. */
const SMALL_TEXT_CHARACTERS = 16 * 1024;

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

/** A body that is being read. */
export interface Read<Result> {
  /** Rejects with a ReadError. */
  readonly done: Promise<ReadResult<Result>>;
  /** The result is no longer wanted: it rejects with this error, if it has not ended. */
  cancel(error: Error): void;
}

export interface ReaderPool {
  /** Reads the body, whose memory is moved. `owner` is whose share of the threads it takes. */
  read<Kind extends ReadKind>(
    owner: string,
    kind: Kind,
    input: InputOf<Kind>,
    body: ByteBlocks | Buffer,
  ): Read<ResultOf<Kind>>;
  /** The tokens of the texts. Texts that no thread counts in time are counted on the main thread, in steps. */
  countTokens(owner: string, texts: readonly string[]): Promise<number>;
  /** How many bodies and texts were given to a thread so far. */
  readonly threadReads: number;
  /** How many wait for a thread. */
  waiting(): number;
  close(): Promise<void>;
}

interface Job<Kind extends ReadKind> {
  readonly owner: string;
  readonly kind: Kind;
  readonly input: InputOf<Kind>;
  readonly blocks: readonly Uint8Array<ArrayBuffer>[];
}

export function createReaderPool(dependencies: {
  readonly timers: Timers;
  readonly log: Logger;
  readonly largestBodyBytes: number;
  /** What a thread needs before it has read anything; enough unless given. */
  readonly baseHeapMb?: number;
  /** At most; one or two, by the cores, unless given. */
  readonly maxThreads?: number;
}): ReaderPool {
  const { timers, log, largestBodyBytes, baseHeapMb = BASE_HEAP_MB } = dependencies;
  const { maxThreads = BACKGROUND_THREADS } = dependencies;
  const heapMb = baseHeapMb + Math.ceil((largestBodyBytes * HEAP_PER_BODY_BYTE) / 1024 ** 2);
  const scheduler = createFairScheduler({
    permits: maxThreads,
    permitsPerTenant: maxThreads,
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

  const readInThread = async <Kind extends ReadKind>(
    { owner, ...assignment }: Job<Kind>,
    cancelled: AbortSignal,
  ): Promise<ReadResult<ResultOf<Kind>>> => {
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
      const { result, body } = await thread.run(assignment);
      // It was ready at the moment at which its thread was ended.
      if (isLate) throw new ReadError('not_read_in_time');
      // The thread answers with the result of this kind.
      return { result: result as ResultOf<Kind>, body: Buffer.from(body) };
    } catch (error) {
      if (isLate) throw new ReadError('not_read_in_time');
      const isTooLarge = error instanceof ThreadEnded && error.isOutOfMemory;
      throw new ReadError(isTooLarge ? 'too_large' : 'thread_ended', error);
    } finally {
      cancelTimer();
    }
  };

  const submit = <Kind extends ReadKind>(job: Job<Kind>): Read<ResultOf<Kind>> => {
    const cancelled = new AbortController();
    const { promise, resolve, reject } = Promise.withResolvers<ReadResult<ResultOf<Kind>>>();
    readInThread(job, cancelled.signal).then(resolve, reject);
    return {
      done: promise,
      cancel(error) {
        cancelled.abort(error);
        reject(error);
      },
    };
  };

  return {
    read(owner, kind, input, body) {
      const isSmall = body.length <= SMALL_BODY_BYTES;
      const blocks = Buffer.isBuffer(body) ? [ownMemory(body)] : body.take();
      return isSmall ? readHere(kind, input, joinBlocks(blocks)) : submit({ owner, kind, input, blocks });
    },
    async countTokens(owner, texts) {
      const characters = texts.reduce((sum, text) => sum + text.length, 0);
      if (characters <= SMALL_TEXT_CHARACTERS) return countTokens(texts);
      try {
        return (await submit({ owner, kind: 'tokens', input: texts, blocks: [] }).done).result;
      } catch (error) {
        if (error instanceof ReadError) return countTokens(texts);
        throw error;
      }
    },
    get threadReads() {
      return threadReads;
    },
    waiting: () => scheduler.waiting(),
    async close() {
      for (const thread of [...threads]) end(thread);
      await Promise.all(ending);
    },
  };
}

function readHere<Kind extends ReadKind>(
  kind: Kind,
  input: InputOf<Kind>,
  body: Buffer<ArrayBuffer>,
): Read<ResultOf<Kind>> {
  const { promise, resolve, reject } = Promise.withResolvers<ReadResult<ResultOf<Kind>>>();
  const read = READS[kind] as (
    bytes: Buffer<ArrayBuffer>,
    given: InputOf<Kind>,
  ) => Promise<ReadResult<ResultOf<Kind>>>;
  read(body, input).then(resolve, reject);
  return { done: promise, cancel: reject };
}
