import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { childEnvironment } from './child-environment.ts';
import { placeMigratedStores } from './migrated-stores.ts';

/** A Gatehouse service started as a user starts it, as a process of its own. */
export interface ServiceProcess extends AsyncDisposable {
  readonly apiPort: number;
  readonly gatewayPort: number;
  readonly child: ChildProcess;
  /** The log so far. */
  readonly logLines: Record<string, unknown>[];
  /** Its messages on standard error. */
  told(): string;
  /** Sends the signal and waits for the end. Returns the exit code, or the signal that ended it. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

const root = join(import.meta.dirname, '..');

export interface StartOptions {
  /** True if a data directory without stores is left as it is, so that this start makes them: for tests about first starts. */
  readonly makesStores?: boolean;
  /** A command that runs the service's, as `ip netns exec` does: it must become that command. */
  readonly within?: readonly string[];
  /** The directory of another version of the project. */
  readonly directory?: string;
}

/** Starts the service, or one part of it, and waits until it is ready, on free ports. `environment` is added
 *  to a minimal one. The port of a part that does not run is undefined despite its type; no test uses it. */
export async function startService(
  environment: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  { makesStores = false, within = [], directory = root }: StartOptions = {},
): Promise<ServiceProcess> {
  const { DATA_DIR: dataDir, DATABASE_URL: external } = environment;
  if (dataDir !== undefined && external === undefined && !makesStores) await placeMigratedStores(dataDir);
  const [program = '', ...rest] = [...within, process.execPath, 'cli/bin/gatehouse.mjs', 'start', ...args];
  const child = spawn(program, rest, {
    cwd: directory,
    env: { ...childEnvironment(), PORT: '0', GATEWAY_PORT: '0', DRAIN_DELAY: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  let told = '';
  // It is told on standard error before the log says so on standard output, and may be read after that.
  const welcomed = Promise.withResolvers<void>();
  child.stderr.on('data', (chunk: Buffer) => {
    told += chunk;
    if (told.includes('Gatehouse is ready')) welcomed.resolve();
  });
  const logLines: Record<string, unknown>[] = [];
  const ready = Promise.withResolvers<Record<string, unknown>>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const entry = JSON.parse(line) as Record<string, unknown>;
    logLines.push(entry);
    if (entry['msg'] === 'ready') ready.resolve(entry);
  });
  const first = await Promise.race([welcomed.promise.then(() => ready.promise), ended]);
  if (typeof first !== 'object')
    throw new Error(`the service ended with ${first} before it was ready: ${told}`);

  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    return ended;
  };
  return {
    apiPort: first['api_port'] as number,
    gatewayPort: first['gateway_port'] as number,
    child,
    logLines,
    told: () => told,
    end,
    async [Symbol.asyncDispose]() {
      await end('SIGTERM');
    },
  };
}

/** Repeats the request until the expected answer comes. Throws after the time limit. */
export async function eventually<T>(ask: () => Promise<T | undefined>, boundMs = 60_000): Promise<T> {
  const end = performance.now() + boundMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > end) throw new Error(`what was waited for did not come within ${boundMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
