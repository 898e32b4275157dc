import { type Clock, createBackoff, systemClock } from '@gatehouse/concurrency';
import { type MetricSnapshot, type ProcessMetrics, processMetrics } from '@gatehouse/observability';
import type { Logger } from 'pino';
import type { GatewayChild, ListenOptions } from './gateway-child.ts';

/*
 * Under `gatehouse start` the gateway is a process of its own, and this keeps it running. A request to the gateway may
 * exhaust its memory or crash it; the API must not end with it. A process that ended is replaced at once, on the same
 * port, and with backoff when it ends repeatedly. Its finished requests are in its journal, which the next process ships
 * before it listens.
 */
export interface GatewayProcess extends AsyncDisposable {
  /** To be called once. Resolves with the port; rejects when the first process cannot listen there. */
  listen(options: ListenOptions): Promise<number>;
  /** The metrics that it has counted, whether it sent them in time, and how often it was replaced. */
  metrics(): Promise<ProcessMetrics>;
  /** Its `/readyz` answers 503 from here on, also that of a process that replaces it. Everything else is served. */
  announceStop(): void;
  /** Stops it, or kills it if it does not listen yet. A second call waits for the first. */
  close(): Promise<void>;
}

export interface GatewayProcessOptions {
  readonly startChild: () => GatewayChild;
  /** Every line is about this process. */
  readonly log: Logger;
  readonly clock?: Pick<Clock, 'monotonicMs' | 'sleep'>;
}

// A process that has listened for this long did not end for the same reason as the one before it.
const STABLE_MS = 10_000;
const RESTARTS = { firstMs: 100, maxMs: 10_000, immediateRetries: 1 };

/** Starts the process, which loads its code while its parent opens the stores. */
export function startGatewayProcess(options: GatewayProcessOptions): GatewayProcess {
  const { startChild, log, clock = systemClock } = options;
  const stopping = new AbortController();
  let child = startChild();
  let supervision: Promise<void> | undefined;
  let closing: Promise<void> | undefined;
  let restarts = 0;
  let isStopAnnounced = false;

  const listen = async (options: ListenOptions): Promise<number> => {
    const port = await child.listen(options);
    if (isStopAnnounced) child.announceStop();
    log.info({ event: 'gateway.process_started', pid: child.pid, port }, 'gateway process listening');
    return port;
  };

  const supervise = async (options: ListenOptions): Promise<void> => {
    let listensSinceMs: number | undefined = clock.monotonicMs();
    const backoff = createBackoff(RESTARTS);
    for (;;) {
      const { exitCode, signal, startError } = await child.ended;
      if (stopping.signal.aborted) return;
      const wasStable = listensSinceMs !== undefined && clock.monotonicMs() - listensSinceMs >= STABLE_MS;
      if (wasStable) backoff.reset();
      const pauseMs = backoff.nextMs();
      log.error(
        {
          event: 'gateway.process_ended',
          pid: child.pid,
          exit_code: exitCode,
          signal,
          restart_in_ms: pauseMs,
          ...(startError && { err: startError }),
        },
        'gateway process ended; restarting it',
      );
      await clock.sleep(pauseMs, stopping.signal);
      if (stopping.signal.aborted) return;
      restarts += 1;
      child = startChild();
      listensSinceMs = await listen(options).then(
        () => clock.monotonicMs(),
        (error: unknown) => {
          log.error({ event: 'gateway.process_failed', err: error }, 'gateway process cannot listen');
          return undefined;
        },
      );
    }
  };

  const close = async (): Promise<void> => {
    stopping.abort();
    // It has nothing in flight before it listens.
    if (!supervision) return void (await child.kill());
    const { exitCode, signal } = await child.stop();
    if (exitCode !== 0) {
      log.error(
        { event: 'gateway.process_aborted', pid: child.pid, exit_code: exitCode, signal },
        'gateway process did not stop cleanly; its journal stays on disk for the next start',
      );
    }
    await supervision;
  };

  return {
    async listen(options) {
      const port = await listen(options);
      // Port 0 is resolved once; restarts use the same port.
      supervision = supervise({ ...options, port });
      return port;
    },
    async metrics() {
      const answered = await child.metrics();
      const ofProcess: MetricSnapshot[] = [
        { name: processMetrics.up.name, series: [[[], Number(answered !== undefined)]] },
        { name: processMetrics.restarts.name, series: [[[], restarts]] },
      ];
      return { own: [...(answered?.own ?? []), ...ofProcess], runtime: answered?.runtime ?? [] };
    },
    announceStop() {
      isStopAnnounced = true;
      child.announceStop();
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
