import { Worker } from 'node:worker_threads';
import type { Assignment, Reply } from './reads.ts';

export interface ReaderThread {
  /** True if nothing is being read. */
  readonly isIdle: boolean;
  /** Reads one body, only while idle. Rejects with a ThreadEnded when the thread does not survive it. */
  run(assignment: Assignment): Promise<Reply>;
  /** Ends it, whatever it does. */
  end(): Promise<void>;
}

/** The thread is gone, and with it what it was reading. */
export class ThreadEnded extends Error {
  override readonly name = 'ThreadEnded';
  /** True if what it read took more memory than a thread is given. */
  readonly isOutOfMemory: boolean;

  constructor(cause: unknown) {
    super('a reader thread ended', { cause });
    this.isOutOfMemory =
      cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
  }
}

/** Starts a thread whose heap has a limit of its own: a body that is too much ends the thread, not the process. */
export function startReaderThread(heapMb: number, onEnd: (error: ThreadEnded) => void): ReaderThread {
  const worker = new Worker(new URL('./reader-worker.ts', import.meta.url), {
    name: 'reader',
    // Strangers' bodies are read there, and none of this is needed for it.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
  });
  // The request that waits for a body keeps the process running.
  worker.unref();
  let running: PromiseWithResolvers<Reply> | undefined;
  let isOver = false;
  const over = (cause: unknown) => {
    if (isOver) return;
    isOver = true;
    const error = new ThreadEnded(cause);
    running?.reject(error);
    running = undefined;
    onEnd(error);
  };
  worker.on('message', (reply: Reply) => {
    const job = running;
    running = undefined;
    job?.resolve(reply);
  });
  worker.on('error', over);
  worker.on('exit', (code) => over(new Error(`exit code ${code}`)));
  return {
    get isIdle() {
      return running === undefined;
    },
    run(assignment) {
      running = Promise.withResolvers();
      worker.postMessage(
        assignment,
        assignment.blocks.map(({ buffer }) => buffer),
      );
      return running.promise;
    },
    async end() {
      await worker.terminate();
    },
  };
}
