import { setTimeout as delay } from 'node:timers/promises';
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
import { countTokens } from '../tokens/count-tokens.ts';
import { PartialCounter, type UncountedTexts, uncounted } from '../tokens/uncounted-texts.ts';
import { type CountTime, createCountTime } from './count-time.ts';
import { type ReaderThread, startReaderThread, ThreadEnded } from './reader-thread.ts';
import {
  type InputOf,
  type PartialResult,
  READS,
  type ReadKind,
  type ReadResult,
  type ResultOf,
  withTokens,
} from './reads.ts';

// Scanning, parsing and counting a body of some megabytes takes a second, and the main thread serves all callers. So a
// small body is read at once, and a large one, of a request or of a provider's answer, in a reader thread. There are
// two at most, with a lower priority than the main thread. They start with the first large body, take bodies fairly by
// organisation, and one that ends is replaced. Counting tokens is what may take longest, three seconds for a million
// ideographs. So whatever the size of a body, its tokens are counted for some milliseconds only, and then for some
// milliseconds at a time in a thread, after those that have waited longer.

const MAX_QUEUED_OF_OWNER = 256;
// For the wait and for the reading, each.
const TIMEOUT_MS = 20_000;
// The heap of a thread before it has read anything, and for each byte of the largest body, beside the text itself.
const BASE_HEAP_MB = 128;
const HEAP_PER_BODY_BYTE = 4;
/** How long tokens are counted at a time in a reader thread. */
const COUNT_MS = 10;
/** For all the tokens of a body. */
const COUNT_TIMEOUT_MS = 60_000;
/** Where no thread counts, the main thread does for a fifth of its time. */
const PAUSE_FACTOR = 4;
const NEVER = new AbortController().signal;

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
  /** The tokens of the texts. Texts that no thread counts in time are counted on the main thread, with pauses. */
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
  /** How long tokens are counted on the main thread; that of count-time.ts unless given. */
  readonly countTime?: CountTime;
  /** How long tokens are counted at a time in a reader thread; ten milliseconds unless given. */
  readonly countMs?: number;
}): ReaderPool {
  const { timers, log, largestBodyBytes, baseHeapMb = BASE_HEAP_MB, countMs = COUNT_MS } = dependencies;
  const { maxThreads = BACKGROUND_THREADS, countTime = createCountTime(() => performance.now()) } =
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
    { owner, ...assignment }: Job<Kind>,
    cancelled: AbortSignal,
  ): Promise<PartialResult<ResultOf<Kind>>> => {
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
      const { result, body, uncounted: texts } = await thread.run({ ...assignment, countMs });
      // It was ready at the moment at which its thread was ended.
      if (isLate) throw new ReadError('not_read_in_time');
      // The thread answers with the result of this kind.
      return {
        result: result as ResultOf<Kind>,
        body: Buffer.from(body),
        uncounted: texts && { ...texts, bytes: Buffer.from(texts.bytes) },
      };
    } catch (error) {
      if (isLate) throw new ReadError('not_read_in_time');
      const isTooLarge = error instanceof ThreadEnded && error.isOutOfMemory;
      throw new ReadError(isTooLarge ? 'too_large' : 'thread_ended', error);
    } finally {
      cancelTimer();
    }
  };

  /** Each time in a thread is a turn of its own, so others get in between. */
  const countInThreads = async (
    owner: string,
    texts: UncountedTexts,
    cancelled: AbortSignal,
  ): Promise<number> => {
    let { bytes, counted } = texts;
    const { ends } = texts;
    let tokens = 0;
    while (counted < ends.length) {
      const job = { owner, kind: 'tokens', input: { owner, ends, counted }, blocks: [bytes] } as const;
      const { result, body } = await readInThread(job, cancelled);
      cancelled.throwIfAborted();
      tokens += result.tokens;
      ({ counted } = result);
      bytes = body;
    }
    return tokens;
  };

  /** The result with all its tokens, once they are counted. */
  const complete = <Result extends ResultOf<ReadKind>>(
    owner: string,
    begin: (cancelled: AbortSignal) => Promise<PartialResult<Result>>,
  ): Read<Result> => {
    const cancelled = new AbortController();
    const { promise, resolve, reject } = Promise.withResolvers<ReadResult<Result>>();
    const cancel = (error: Error) => {
      cancelled.abort(error);
      reject(error);
    };
    const finish = async () => {
      const { result, body, uncounted: texts } = await begin(cancelled.signal);
      if (!texts) return { result, body };
      const cancelTimer = timers.after(COUNT_TIMEOUT_MS, () => cancel(new ReadError('not_read_in_time')));
      try {
        return { result: withTokens(result, await countInThreads(owner, texts, cancelled.signal)), body };
      } finally {
        cancelTimer();
      }
    };
    finish().then(resolve, reject);
    return {
      done: promise,
      cancel,
    };
  };

  /** One after the other, with pauses: the main thread has others to serve. */
  const countHere = (pieces: readonly string[]): Promise<number> =>
    fallback.run(async () => {
      let tokens = 0;
      for (const piece of pieces) {
        const beganAt = performance.now();
        tokens += await countTokens([piece]);
        await delay(PAUSE_FACTOR * (performance.now() - beganAt));
      }
      return tokens;
    });

  return {
    read(owner, kind, input, body) {
      const isSmall = body.length <= SMALL_BODY_BYTES;
      const blocks = Buffer.isBuffer(body) ? [ownMemory(body)] : body.take();
      const job = { owner, kind, input, blocks };
      return complete(owner, (cancelled) =>
        isSmall ? readHere(kind, input, joinBlocks(blocks), countTime) : readInThread(job, cancelled),
      );
    },
    async countTokens(owner, texts) {
      const counter = new PartialCounter(countTime.available());
      const tokens = await counter.count(texts);
      countTime.used(counter.tookMs);
      const rest = uncounted(counter.rest);
      if (!rest) return tokens;
      try {
        return tokens + (await countInThreads(owner, rest, NEVER));
      } catch (error) {
        if (error instanceof ReadError) return tokens + (await countHere(counter.rest));
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

async function readHere<Kind extends ReadKind>(
  kind: Kind,
  input: InputOf<Kind>,
  body: Buffer<ArrayBuffer>,
  countTime: CountTime,
): Promise<PartialResult<ResultOf<Kind>>> {
  const read = READS[kind] as (
    bytes: Buffer<ArrayBuffer>,
    given: InputOf<Kind>,
    milliseconds: number,
  ) => Promise<PartialResult<ResultOf<Kind>>>;
  const partial = await read(body, input, countTime.available());
  countTime.used(partial.countedMs ?? 0);
  return partial;
}
