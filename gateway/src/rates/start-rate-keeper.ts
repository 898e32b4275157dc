import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { createBackoff, systemClock } from '@gatehouse/concurrency';
import type { Logger } from 'pino';
import type { RateKeeperAddress } from './keeper-connection.ts';
import { HELLO_BYTES } from './keeper-protocol.ts';

export type { RateKeeperAddress };

/** The rate keeper in a thread of this process, replaced when it ends. */
export interface RateKeeperThread extends AsyncDisposable {
  readonly address: RateKeeperAddress;
}

const RESTARTS = { firstMs: 100, maxMs: 10_000, immediateRetries: 1 };
const STABLE_MS = 10_000;

/** Resolves once it listens at the path. Throws when it cannot. */
export async function startRateKeeper(
  path: string,
  log: Logger,
  startThread = startKeeperThread,
): Promise<RateKeeperThread> {
  const address = { path, secret: randomBytes(HELLO_BYTES).toString('hex') };
  const stopping = new AbortController();
  let worker = startThread(address);
  await isListening(worker);
  worker.unref();

  const supervise = async (): Promise<void> => {
    const backoff = createBackoff(RESTARTS);
    for (;;) {
      const startedAtMs = systemClock.monotonicMs();
      const error = await endOf(worker);
      if (stopping.signal.aborted) return;
      if (systemClock.monotonicMs() - startedAtMs >= STABLE_MS) backoff.reset();
      const pauseMs = backoff.nextMs();
      log.error(
        { event: 'rates.keeper_ended', restart_in_ms: pauseMs, err: error },
        'rate keeper ended; restarting it',
      );
      await systemClock.sleep(pauseMs, stopping.signal);
      if (stopping.signal.aborted) return;
      worker = startThread(address);
      worker.unref();
    }
  };
  const supervision = supervise();
  return {
    address,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await worker.terminate();
      await supervision;
      await rm(path, { force: true });
    },
  };
}

export function startKeeperThread(workerData: RateKeeperAddress): Worker {
  const worker = new Worker(new URL('./keeper-thread.ts', import.meta.url), {
    name: 'rate keeper',
    env: {},
    execArgv: [],
    workerData,
  });
  // An error ends the thread, and its end is awaited.
  worker.on('error', () => undefined);
  return worker;
}

async function isListening(worker: Worker): Promise<void> {
  const stop = new AbortController();
  const { signal } = stop;
  try {
    await Promise.race([
      once(worker, 'message', { signal }),
      endOf(worker).then((error) => {
        throw error;
      }),
    ]);
  } finally {
    stop.abort();
  }
}

/** Resolves when the thread is gone, with the reason. */
function endOf(worker: Worker): Promise<Error> {
  const { promise, resolve } = Promise.withResolvers<Error>();
  let error: Error | undefined;
  worker.once('error', (cause: Error) => {
    error = cause;
  });
  worker.once('exit', (code) => resolve(error ?? new Error(`exit code ${code}`)));
  return promise;
}
