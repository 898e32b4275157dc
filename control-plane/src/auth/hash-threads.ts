import { BACKGROUND_THREADS } from '@gatehouse/concurrency';
import { Piscina } from 'piscina';
import type { HashTask } from './hash-worker.ts';

// Hashing is slow by design. It runs in background threads of lower priority, so that a flood of sign-ins takes only processor
// time that requests leave over. The threads start with the first password and end after a minute without one.
const NICE = 10;
const IDLE_MS = 60_000;

export interface HashThreads {
  /** The hash, or whether the password matches. Rejects if it fails, or if a thread fails meanwhile. */
  run<Result extends string | boolean>(task: HashTask): Promise<Result>;
}

/** A thread that fails ends its pool, with what waits in it, and no more: the next password starts another one. */
export function openHashThreads(worker = new URL('./hash-worker.ts', import.meta.url)): HashThreads {
  let pool: Piscina | undefined;
  let failure: unknown;
  const open = () => {
    const opened = new Piscina({
      filename: worker.href,
      name: 'run',
      minThreads: 0,
      maxThreads: BACKGROUND_THREADS,
      idleTimeout: IDLE_MS,
      niceIncrement: NICE,
      // The environment holds secrets, and hashing needs none of it.
      env: {},
      execArgv: [],
    });
    // Without a listener the error would end the process; without the end of the pool, its tasks would wait for ever.
    opened.on('error', (error) => {
      if (pool === opened) pool = undefined;
      failure = error;
      void opened.destroy();
    });
    return opened;
  };
  return {
    async run(task) {
      pool ??= open();
      const own = pool;
      try {
        return await own.run(task);
      } catch (error) {
        throw own === pool ? error : failure;
      }
    },
  };
}
