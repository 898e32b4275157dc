import { createServer } from 'node:net';
import { startRateKeeper } from '@gatehouse/gateway/rate-keeper';
import type { ProcessMetrics } from '@gatehouse/observability';
import type { Logger } from 'pino';
import { cannotListen } from '../listen/listener.ts';
import { openSocketPlace } from '../listen/socket-place.ts';
import type { GatewayChild, ListenOptions } from './gateway-child.ts';
import { type GatewayProcess, type GatewayProcessOptions, startGatewayProcess } from './gateway-process.ts';

/*
 * One process uses one core. Several listen on the same port, and the kernel gives each connection to one of them by a
 * hash of its addresses. Each is supervised on its own: while one is replaced, the others serve. The rates of keys are
 * counted for all of them by a keeper in a thread of their parent.
 */

export interface GatewayProcessesOptions extends Pick<GatewayProcessOptions, 'clock'> {
  /** At least 1. */
  readonly count: number;
  readonly startChild: () => GatewayChild;
  readonly dataDir: string;
  /** True if rates are counted elsewhere. */
  readonly hasRedis?: boolean;
  readonly log: Logger;
}

// In the data directory.
const RATES_FOLDER = 'rates';

export interface GatewayProcesses extends AsyncDisposable {
  /** To be called once. Resolves with the port once all of them listen; rejects when one of them cannot. */
  listen(host: string, options: Omit<ListenOptions, 'shared'>): Promise<number>;
  /** The metrics of each process, by its name. */
  metrics(): Promise<ReadonlyMap<string, ProcessMetrics>>;
  /** See GatewayProcess. */
  announceStop(): void;
  /** Stops them at the same time. A second call waits for the first. */
  close(): Promise<void>;
}

/** Starts the processes, which load their code while their parent opens the stores. */
export function startGatewayProcesses({
  count,
  dataDir,
  hasRedis = false,
  log,
  ...options
}: GatewayProcessesOptions): GatewayProcesses {
  const processes = Array.from({ length: count }, (_, index) =>
    startGatewayProcess({ ...options, log: log.child({ process: index + 1 }) }),
  );
  const keeper = new AsyncDisposableStack();
  const close = async (): Promise<void> => {
    await Promise.all(processes.map((process) => process.close()));
    await keeper.disposeAsync();
  };
  const openKeeper = async () => {
    const { path } = keeper.use(await openSocketPlace(dataDir, RATES_FOLDER));
    return keeper.use(await startRateKeeper(path, log)).address;
  };
  return {
    async listen(host, order) {
      const [first, ...others] = processes as [GatewayProcess, ...GatewayProcess[]];
      if (count === 1) return first.listen(order);
      if (order.port !== 0) await requireFreePort(host, order.port);
      const rateKeeper = hasRedis ? undefined : await openKeeper();
      const shared = (number: number) => ({
        ...order,
        shared: { number, count, ...(rateKeeper && { rateKeeper }) },
      });
      // Port 0 is resolved by the first.
      const port = await first.listen(shared(1));
      await Promise.all(others.map((process, index) => process.listen({ ...shared(index + 2), port })));
      return port;
    },
    async metrics() {
      const collected = await Promise.all(processes.map((process) => process.metrics()));
      return new Map(collected.map((metrics, index) => [`gateway-${index + 1}`, metrics]));
    },
    announceStop() {
      for (const process of processes) process.announceStop();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A port that is shared is shared with any program of this user that asks for it, so it must be free before. */
async function requireFreePort(host: string, port: number): Promise<void> {
  const probe = createServer();
  const listening = Promise.withResolvers<void>();
  probe.once('error', listening.reject);
  probe.listen({ host, port }, listening.resolve);
  await listening.promise.catch(cannotListen('GATEWAY_PORT', host, port));
  await new Promise((resolve) => probe.close(resolve));
}
