import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { GatewayChild, ListenOrder } from './gateway-child.ts';

/*
 * Under `gatehouse start` the gateway is a process of its own, and this keeps it running. What takes requests from
 * everybody can be made to run out of memory or to crash, and what people sign in to must not end with it. The process
 * that ended is replaced at once, on the same port; one that ends again and again is replaced ever more slowly. What it
 * had recorded is in its journal, which the next one finds and ships before it listens.
 */
export interface GatewayProcess extends AsyncDisposable {
  /** To be called once. Resolves with the port; rejects when the first process cannot listen there. */
  listen(order: ListenOrder): Promise<number>;
  /** Stops it in good order, or at once if it does not listen yet. A second call joins the first. */
  close(): Promise<void>;
}

export interface GatewayProcessOptions {
  readonly startChild: () => GatewayChild;
  readonly log: Logger;
  readonly timing?: ProcessTiming;
}

export interface ProcessTiming {
  /** Milliseconds of a clock that only goes forward. */
  now(): number;
  /** Resolves after the time, or as soon as the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

const systemTiming: ProcessTiming = {
  now: () => performance.now(),
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => undefined),
};

// One that has listened for so long did not end for the reason that the one before it ended for.
const STABLE_MS = 10_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;

/** Starts the process, which gets ready to listen while its parent opens the stores. */
export function startGatewayProcess(options: GatewayProcessOptions): GatewayProcess {
  const { startChild, log, timing = systemTiming } = options;
  const stopping = new AbortController();
  let child = startChild();
  let supervision: Promise<void> | undefined;
  let closing: Promise<void> | undefined;

  const listen = async (order: ListenOrder): Promise<number> => {
    const port = await child.listen(order);
    log.info({ event: 'gateway.process_started', pid: child.pid, port }, 'the gateway process listens');
    return port;
  };

  const supervise = async (order: ListenOrder): Promise<void> => {
    let listensSinceMs: number | undefined = timing.now();
    let failures = 0;
    for (;;) {
      const { exitCode, signal, startError } = await child.ended;
      if (stopping.signal.aborted) return;
      const wasStable = listensSinceMs !== undefined && timing.now() - listensSinceMs >= STABLE_MS;
      failures = wasStable ? 1 : failures + 1;
      const pauseMs = restartPauseMs(failures);
      log.error(
        {
          event: 'gateway.process_ended',
          pid: child.pid,
          exit_code: exitCode,
          signal,
          restart_in_ms: pauseMs,
          ...(startError && { err: startError }),
        },
        'the gateway process ended; another one is started',
      );
      await timing.sleep(pauseMs, stopping.signal);
      if (stopping.signal.aborted) return;
      child = startChild();
      listensSinceMs = await listen(order).then(
        () => timing.now(),
        (error: unknown) => {
          log.error({ event: 'gateway.process_failed', err: error }, 'the gateway process cannot listen');
          return undefined;
        },
      );
    }
  };

  const close = async (): Promise<void> => {
    stopping.abort();
    // Nothing was asked of one that never listened.
    if (!supervision) return void (await child.kill());
    const { exitCode, signal } = await child.stop();
    if (exitCode !== 0) {
      log.error(
        { event: 'gateway.process_aborted', pid: child.pid, exit_code: exitCode, signal },
        'the gateway process did not stop in good order; its journal stays on disk for the next start',
      );
    }
    await supervision;
  };

  return {
    async listen(order) {
      const port = await listen(order);
      // The port stays the one that was free at first.
      supervision = supervise({ ...order, port });
      return port;
    },
    close() {
      closing ??= close();
      return closing;
    },
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
}

/** How long to wait before the next start, after so many in a row that came to nothing. */
export function restartPauseMs(failures: number): number {
  return failures <= 1 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (failures - 2), LONGEST_PAUSE_MS);
}
