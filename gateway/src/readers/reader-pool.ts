import type { Timers } from '@gatehouse/concurrency';
import {
  BACKGROUND_THREADS,
  createFairScheduler,
  createMutex,
  type Permit,
  PermitTimeout,
  QueueFull,
} from '@gatehouse/concurrency';
import type { Logger } from 'pino';
import { type ByteBlocks, joinBlocks, ownMemory } from '../bodies/byte-blocks.ts';
import { SMALL_BODY_BYTES } from '../bodies/held-body.ts';
import type { CountTokens } from '../protocols/protocol.ts';
import { CountTimes } from '../tokens/count-time.ts';
import { countFor, countTokens, mostTokens } from '../tokens/count-tokens.ts';
import { rememberedCounts } from '../tokens/remembered-counts.ts';
import { type ReaderThread, startReaderThread, ThreadEnded } from './reader-thread.ts';
import {
  bodyOf,
  type InputOf,
  READS,
  type ReadKind,
  type ReadResult,
  type ResultOf,
  withTokens,
} from './reads.ts';

// Scanning, parsing and counting a body of some megabytes takes a second, and the main thread serves all callers. So a
// small body is read at once, and a large one, of a request or of a provider's answer, in a reader thread. There are
// two at most, with a lower priority than the main thread. They start with the first large body, take bodies fairly by
// organisation, and one that ends is replaced. Counting tokens takes longest: 64 KiB of dear text, a twentieth of a
// second. So the main thread counts for some milliseconds only, and the rest of a small body's text in a reader thread.

const MAX_QUEUED_OF_OWNER = 256;
// For the wait and for the reading, each.
const TIMEOUT_MS = 20_000;
// The heap of a thread before it has read anything, and for each byte of the largest body, beside the text itself.
const BASE_HEAP_MB = 128;
const HEAP_PER_BODY_BYTE = 4;
/** Where no thread counts, the main thread does, for some milliseconds at a time. */
const PAUSE_MS = 16;
/** The echo counts its prompt and its answer itself: some milliseconds for so much. */
const SMALL_ECHO_BYTES = 4 * 1024;

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
  /** The tokens of the texts. Texts that no thread counts in time are counted on the main thread, one after the other and with pauses. */
  countTokens(owner: string, texts: Iterable<string>): Promise<number>;
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
  /** How long the main thread counts tokens. */
  readonly countTimes?: Pick<CountTimes, 'of'>;
}): ReaderPool {
  const { timers, log, largestBodyBytes, baseHeapMb = BASE_HEAP_MB } = dependencies;
  const { maxThreads = BACKGROUND_THREADS, countTimes = new CountTimes(() => performance.now()) } =
    dependencies;
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
  const fallback = createMutex();
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
    job: Job<Kind>,
    cancelled: AbortSignal,
  ): Promise<ReadResult<ResultOf<Kind>>> => {
    using _ = scheduler.tryAcquire(job.owner) ?? (await permitFor(job.owner, cancelled));
    // As many threads as permits, so either one is idle or one may be started.
    const thread = threads.values().find(({ isIdle }) => isIdle) ?? start();
    threadReads += 1;
    let isLate = false;
    const cancelTimer = timers.after(TIMEOUT_MS, () => {
      isLate = true;
      end(thread);
    });
    try {
      const { result, body } = await thread.run(job);
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

  const countInThread = (owner: string, texts: readonly string[]): Read<number> =>
    submit({ owner, kind: 'tokens', input: undefined, blocks: [bodyOf(texts)] });

  const readHere = <Kind extends ReadKind>({
    owner,
    kind,
    input,
    blocks,
  }: Job<Kind>): Read<ResultOf<Kind>> => {
    const { promise, resolve, reject } = Promise.withResolvers<ReadResult<ResultOf<Kind>>>();
    const read = READS[kind] as (
      bytes: Buffer<ArrayBuffer>,
      given: InputOf<Kind>,
      count: CountTokens,
    ) => Promise<ReadResult<ResultOf<Kind>>>;
    let rest: readonly string[] = [];
    let isCancelled = false;
    let counting: Read<number> | undefined;
    const count: CountTokens = async (texts) => {
      const counted = await countFor(countTimes.of(owner), texts, rememberedCounts.of(owner));
      rest = counted.rest;
      return counted.tokens;
    };
    const finish = async () => {
      const { result, body } = await read(joinBlocks(blocks), input, count);
      if (rest.length === 0 || isCancelled) return { result, body };
      counting = countInThread(owner, rest);
      // Rather too many than no answer.
      const tokens = await counting.done.then(
        (counted) => counted.result,
        (error) => (error instanceof ReadError ? mostTokens(rest) : Promise.reject(error)),
      );
      return { result: withTokens(result, tokens), body };
    };
    finish().then(resolve, reject);
    return {
      done: promise,
      cancel(error) {
        isCancelled = true;
        counting?.cancel(error);
        reject(error);
      },
    };
  };

  return {
    read(owner, kind, input, body) {
      const isSmall = body.length <= (kind === 'echo' ? SMALL_ECHO_BYTES : SMALL_BODY_BYTES);
      const blocks = Buffer.isBuffer(body) ? [ownMemory(body)] : body.take();
      const job = { owner, kind, input, blocks };
      return isSmall ? readHere(job) : submit(job);
    },
    async countTokens(owner, texts) {
      const { tokens, rest } = await countFor(countTimes.of(owner), texts);
      if (rest.length === 0) return tokens;
      try {
        return tokens + (await countInThread(owner, rest).done).result;
      } catch (error) {
        if (error instanceof ReadError)
          return tokens + (await fallback.run(() => countTokens(rest, PAUSE_MS)));
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
