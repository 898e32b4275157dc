import { type ServiceProcess, type StartOptions, startService } from '../../service-process.ts';

/** A node of a fleet: one process of the service with one role, on an address and a data directory of its own. */
export interface FleetNode extends AsyncDisposable {
  readonly name: string;
  /** With its port. */
  readonly address: string;
  /** Starts it and waits until it is ready. `directory` is that of another version of the project. */
  start(options?: {
    readonly directory?: string;
    readonly environment?: Readonly<Record<string, string>>;
  }): Promise<void>;
  /** Sends the signal and waits for the end. Returns the exit code, or the signal that ended it. */
  stop(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
  /** True if `/readyz` says so, asked from outside. */
  isReady(): Promise<boolean>;
  /** The lines of all its processes so far. */
  logLines(): Record<string, unknown>[];
}

const READY_TIMEOUT_MS = 5_000;

export function createNode(
  name: string,
  address: string,
  role: 'api' | 'gateway',
  environment: Readonly<Record<string, string>>,
  { within = [] }: Pick<StartOptions, 'within'>,
): FleetNode {
  const before: Record<string, unknown>[] = [];
  let running: ServiceProcess | undefined;
  const stop = async (signal: NodeJS.Signals) => {
    if (running === undefined) throw new Error(`${name} does not run`);
    const ended = await running.end(signal);
    before.push(...running.logLines);
    running = undefined;
    return ended;
  };
  return {
    name,
    address,
    async start({ directory, environment: more = {} } = {}) {
      if (running !== undefined) throw new Error(`${name} runs already`);
      const options = { within, ...(directory !== undefined && { directory }) };
      running = await startService({ ...environment, ...more }, ['--role', role], options);
    },
    stop,
    async isReady() {
      const signal = AbortSignal.timeout(READY_TIMEOUT_MS);
      const answer = await fetch(`http://${address}/readyz`, { signal }).catch(() => undefined);
      await answer?.body?.cancel();
      return answer?.status === 200;
    },
    logLines: () => [...before, ...(running?.logLines ?? [])],
    async [Symbol.asyncDispose]() {
      if (running !== undefined) await stop('SIGTERM');
    },
  };
}
