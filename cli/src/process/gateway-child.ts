import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { RateKeeperAddress } from '@gatehouse/gateway/rate-keeper';
import type { ProcessMetrics } from '@gatehouse/observability';
import type { TelemetryTarget } from '@gatehouse/store';
import { GRACE_MS } from '../listen/listener.ts';
import { MetricsRequests } from '../metrics/child-metrics.ts';
import type { ServiceLogin } from '../stores/postgres.ts';
import { gatewayHeapOptions } from './gateway-heap.ts';

// One run of the gateway process, seen from its parent. All that it needs goes over the channel between the two, so
// that nothing secret is on a command line.

export interface ListenOptions {
  /** The environment that the settings are read from; those of the parent, so that a restart does not see others. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly port: number;
  readonly serviceLogin: ServiceLogin;
  readonly telemetryTarget: TelemetryTarget;
  /** Their texts. */
  readonly masterKeys: readonly string[];
  /** Set when several processes listen on the port. */
  readonly shared?: SharedPort;
}

/** A process's knowledge of the others that share its port. */
export interface SharedPort {
  /** Its number among them, from 1. */
  readonly number: number;
  readonly count: number;
  /** Undefined when rates are counted in Redis. */
  readonly rateKeeper?: RateKeeperAddress;
}

export type ParentMessage =
  | ({ readonly kind: 'listen' } & ListenOptions)
  | { readonly kind: 'announce_stop' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'ping' }
  | { readonly kind: 'metrics'; readonly id: number };

export type GatewayMessage =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'failed'; readonly error: Pick<Error, 'name' | 'message' | 'stack'> & { code?: string } }
  | { readonly kind: 'pong' }
  | { readonly kind: 'metrics'; readonly id: number; readonly metrics: ProcessMetrics };

export interface GatewayChildOptions {
  readonly heapMb: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The program; the gateway's unless given. */
  readonly main?: string;
  readonly pingIntervalMs?: number;
}

/** How a process ended: by one of the two, or by neither if the system could not start it. */
export interface ChildEnd {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly startError?: Error;
}

export interface GatewayChild {
  /** Undefined when the system could not start it. */
  readonly pid: number | undefined;
  readonly ended: Promise<ChildEnd>;
  /** To be called once. Resolves with the port; rejects with the reason why it does not listen. */
  listen(order: ListenOptions): Promise<number>;
  /** The metrics that it has counted; undefined where it does not say in time. */
  metrics(): Promise<ProcessMetrics | undefined>;
  /** Its `/readyz` answers 503 from here on; it serves everything else. */
  announceStop(): void;
  /** Asks it to finish what is in flight, ship its journal and end; kills it when that takes too long. */
  stop(): Promise<ChildEnd>;
  /** Ends it at once. */
  kill(): Promise<ChildEnd>;
}

const START_LIMIT_MS = 60_000;
// The requests' time, and more than the journal and the connections may take after it.
const STOP_LIMIT_MS = GRACE_MS + 20_000;
// A process that leaves so many pings unanswered is stuck and does not recover.
const PINGS_UNANSWERED = 6;
const PING_INTERVAL_MS = 5_000;
const GATEWAY_MAIN = fileURLToPath(new URL('./gateway-main.ts', import.meta.url));

/** Starts the process. It loads its code and then waits for the order to listen. */
export function startGatewayChild(options: GatewayChildOptions): GatewayChild {
  const { heapMb, environment, main = GATEWAY_MAIN, pingIntervalMs = PING_INTERVAL_MS } = options;
  // The last of two options of one name counts. Two processes cannot be debugged on one port.
  const inherited = process.execArgv.filter((option) => !option.startsWith('--inspect'));
  const child = spawn(
    process.execPath,
    [...inherited, ...gatewayHeapOptions(heapMb), main],
    // Out of the terminal's process group: Ctrl-C is for the parent, which says what happens next.
    { detached: true, stdio: ['ignore', 'inherit', 'inherit', 'ipc'], env: environment },
  );
  const send = (order: ParentMessage) => {
    // One that has just ended is no news: its end comes by itself.
    if (child.connected) child.send(order, () => undefined);
  };
  const listening = Promise.withResolvers<number>();
  // Nothing awaits it before listen is called, so a rejection would be unhandled.
  listening.promise.catch(() => undefined);
  const metrics = new MetricsRequests((id) => send({ kind: 'metrics', id }));
  let unanswered = 0;
  let pings: NodeJS.Timeout | undefined;
  child.on('message', (report: GatewayMessage) => {
    if (report.kind === 'listening') {
      listening.resolve(report.port);
      pings = setInterval(ping, pingIntervalMs);
    }
    if (report.kind === 'failed') listening.reject(Object.assign(new Error(), report.error));
    if (report.kind === 'pong') unanswered = 0;
    if (report.kind === 'metrics') metrics.answered(report.id, report.metrics);
  });
  // Counted in pings, not in time: the parent itself may have been stopped for a while.
  const ping = () => {
    unanswered += 1;
    if (unanswered > PINGS_UNANSWERED) child.kill('SIGKILL');
    else send({ kind: 'ping' });
  };
  const ended = endOf(child).finally(() => clearInterval(pings));
  const within = async <T>(limitMs: number, work: Promise<T>): Promise<T> => {
    const late = setTimeout(() => child.kill('SIGKILL'), limitMs);
    return work.finally(() => clearTimeout(late));
  };

  return {
    pid: child.pid,
    ended,
    listen(order) {
      send({ kind: 'listen', ...order });
      const endedBefore = ended.then(({ exitCode, signal, startError }) => {
        throw (
          startError ?? new Error(`the gateway process ended with ${signal ?? exitCode} before it listened`)
        );
      });
      return within(START_LIMIT_MS, Promise.race([listening.promise, endedBefore]));
    },
    metrics: async () => (child.connected ? metrics.request() : undefined),
    announceStop: () => send({ kind: 'announce_stop' }),
    stop() {
      send({ kind: 'stop' });
      return within(STOP_LIMIT_MS, ended);
    },
    kill() {
      child.kill('SIGKILL');
      return ended;
    },
  };
}

/** Resolves when the process is gone and all that it reported has been read. */
async function endOf(child: ChildProcess): Promise<ChildEnd> {
  const disconnected = once(child, 'disconnect');
  try {
    const [exitCode, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    if (child.connected) await disconnected;
    return { exitCode, signal };
  } catch (error) {
    // There is no process, for want of memory or of process numbers.
    disconnected.catch(() => undefined);
    return { exitCode: null, signal: null, startError: error as Error };
  }
}
