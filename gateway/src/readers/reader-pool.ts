import type { Timers } from '@gatehouse/concurrency';
import { BACKGROUND_THREADS, createMutex } from '@gatehouse/concurrency';
import type { Logger } from 'pino';
import { type ByteBlocks, joinBlocks, ownMemory } from '../bodies/byte-blocks.ts';
import { SMALL_BODY_BYTES } from '../bodies/held-body.ts';
import { CountTimes } from '../tokens/count-time.ts';
import { countFor, countTokens } from '../tokens/count-tokens.ts';
import { createReaderLane, type Job, ReadError, type ReaderLane } from './reader-lane.ts';
import {
  bodyOf,
  type InputOf,
  type PartialResult,
  type ReadKind,
  type ReadResult,
  type ResultOf,
  readPart,
  textsIn,
  withTokens,
} from './reads.ts';

// Scanning, parsing and counting a body of some megabytes takes a second, and the main thread serves all callers. So a
// small body is read at once, and a large one, of a request or of a provider's answer, in a reader thread with a lower
// priority. There are two lanes of them: what an agent sends with each turn never waits for bodies of many megabytes.
//
// A small body may be much work all the same: the echo's answer can be far larger than what asks for it. The main thread then stops
// after a few steps, and a thread of the lane for large bodies reads it from the start.
//
// Counting tokens takes longest, and how long depends on the text: 64 KiB take a fiftieth of a second at most, a million
// characters half a second. So each lane counts for some time, and leaves the rest to the next one. What the last
// one leaves, or has no time for at all, is bounded by its bytes.

export const LANES = {
  /** The largest body of the lane of medium ones: a turn of an agent with a long history. */
  mediumBytes: 1024 ** 2,
  /** For the tokens of a body: enough for 400,000 characters of English. */
  mediumCountMs: 30,
  /** In the lane of large ones: a million characters of nearly any text. */
  largeCountMs: 300,
};
// The heap of a thread before it has read anything, and for each byte of the largest body, beside the text itself.
export const BASE_HEAP_MB = 128;
export const HEAP_PER_BODY_BYTE = 4;
/** The rest of a request's text waits so long for a thread of the next lane: an estimate is not worth more. */
export const COUNT_WAIT_MS = 500;
/** If no thread counts an answer, the main thread does, for some milliseconds at a time. */
const PAUSE_MS = 16;
/** The echo counts its answer itself, which is as long as the body where nothing else is asked for. */
const SMALL_ECHO_BYTES = 4 * 1024;
const NEVER = new AbortController().signal;

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

export function createReaderPool(dependencies: {
  readonly timers: Timers;
  readonly log: Logger;
  readonly largestBodyBytes: number;
  /** The heap that a thread needs before it has read anything; enough unless given. */
  readonly baseHeapMb?: number;
  /** The threads of each lane, at most; one or two, by the cores, unless given. */
  readonly maxThreads?: number;
  /** Limits that differ from the usual ones. */
  readonly lanes?: Partial<typeof LANES>;
  /** How long the main thread counts tokens. */
  readonly countTimes?: Pick<CountTimes, 'of'>;
}): ReaderPool {
  const { timers, log, largestBodyBytes, baseHeapMb = BASE_HEAP_MB } = dependencies;
  const { mediumBytes, mediumCountMs, largeCountMs } = { ...LANES, ...dependencies.lanes };
  const { maxThreads = BACKGROUND_THREADS, countTimes = new CountTimes(() => performance.now()) } =
    dependencies;
  const laneUpTo = (bytes: number, countMs: number) => {
    const heapMb = baseHeapMb + Math.ceil((bytes * HEAP_PER_BODY_BYTE) / 1024 ** 2);
    return createReaderLane({ timers, log, maxThreads, heapMb, countMs });
  };
  const medium = laneUpTo(Math.min(mediumBytes, largestBodyBytes), mediumCountMs);
  const large = laneUpTo(largestBodyBytes, largeCountMs);
  const fallback = createMutex();

  /**
   * Counts in one lane after the other. Of what no lane counts, each byte is taken for a token: rather too many than none. What may be
   * billed is waited for, and counted on the main thread where no thread takes it.
   */
  const countRest = async (
    owner: string,
    texts: Uint8Array<ArrayBuffer>,
    isBilled: boolean,
    lanes: readonly ReaderLane[],
    cancelled: AbortSignal,
  ): Promise<number> => {
    const [lane, ...others] = lanes;
    const most = texts.length;
    if (!lane) return most;
    const late = new AbortController();
    const cancelTimer = isBilled
      ? () => undefined
      : timers.after(COUNT_WAIT_MS, () => late.abort(new ReadError('not_begun_in_time')));
    try {
      const signal = AbortSignal.any([cancelled, late.signal]);
      const { result, rest } = await lane.read(tokensOf(owner, texts), signal);
      return result + (rest ? await countRest(owner, rest, isBilled, others, cancelled) : 0);
    } catch (error) {
      if (!(error instanceof ReadError)) throw error;
      // A thread that has begun has the memory.
      return isBilled && texts.length > 0 ? countHere(textsIn(texts)) : most;
    } finally {
      cancelTimer();
    }
  };

  const countHere = (texts: readonly string[]) => fallback.run(() => countTokens(texts, PAUSE_MS));

  /** In this thread, or in one of the lane for large bodies where it turns out to be much work. */
  const readHere = async <Kind extends ReadKind>(
    job: Job<Kind>,
    cancelled: AbortSignal,
  ): Promise<PartialResult<ResultOf<Kind>>> => {
    const body = joinBlocks(job.blocks);
    const read = await readPart(job, body, countTimes.of(job.owner), true);
    return read ?? large.read({ ...job, blocks: [ownMemory(body)] }, cancelled);
  };

  const begin = <Result extends ResultOf<ReadKind>>(
    { owner, kind }: Job<ReadKind>,
    readFirst: (cancelled: AbortSignal) => Promise<PartialResult<Result>>,
    ...lanes: readonly ReaderLane[]
  ): Read<Result> => {
    const cancelled = new AbortController();
    const { promise, resolve, reject } = Promise.withResolvers<ReadResult<Result>>();
    const finish = async () => {
      const { result, body, rest } = await readFirst(cancelled.signal);
      if (!rest) return { result, body };
      const tokens = await countRest(owner, rest, kind === 'answer', lanes, cancelled.signal);
      return { result: withTokens(result, tokens), body };
    };
    finish().then(resolve, reject);
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
      const { length } = body;
      const blocks = Buffer.isBuffer(body) ? [ownMemory(body)] : body.take();
      const job = { owner, kind, input, blocks };
      if (length <= (kind === 'echo' ? SMALL_ECHO_BYTES : SMALL_BODY_BYTES))
        return begin(job, (cancelled) => readHere(job, cancelled), medium, large);
      if (length <= mediumBytes && kind !== 'echo')
        return begin(job, (cancelled) => medium.read(job, cancelled), large);
      return begin(job, (cancelled) => large.read(job, cancelled));
    },
    async countTokens(owner, texts) {
      const { tokens, rest } = countFor(countTimes.of(owner), texts);
      if (rest.length === 0) return tokens;
      return tokens + (await countRest(owner, bodyOf(rest), true, [large], NEVER));
    },
    get threadReads() {
      return medium.reads + large.reads;
    },
    waiting: () => medium.waiting() + large.waiting(),
    async close() {
      await Promise.all([medium.close(), large.close()]);
    },
  };
}

function tokensOf(owner: string, texts: Uint8Array<ArrayBuffer>): Job<'tokens'> {
  return { owner, kind: 'tokens', input: undefined, blocks: [texts] };
}
