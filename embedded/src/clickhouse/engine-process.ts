/** One run of the engine process, as its leader sees it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@gatehouse/concurrency';
import { pingEngine } from './engine-status.ts';
import { EXIT } from './exit-codes.ts';
import type { EnginePaths } from './paths.ts';

export type EngineEnd = { readonly kind: 'follower' | 'unsupported' | 'ended'; readonly reason: string };

export type EngineProcess = {
  readonly pid: number;
  /** True once it answers, false if it ended before. */
  readonly ready: Promise<boolean>;
  readonly ended: Promise<EngineEnd>;
  /** Asks it to stop; kills it when it has not ended in time. */
  readonly stop: () => void;
};

/** More than the process itself allows running calls. */
const STOP_TIMEOUT_MS = 8_000;
const HEALTH_EVERY_MS = 2_000;
const HEALTH_TIMEOUT_MS = 5_000;
/** After so many failed checks in a row it will not recover. Queries do not run on the thread that answers. */
const HEALTH_FAILURES = 2;
/** An engine that neither answers nor ends by then hangs; waiting for another engine's lock takes at most 15 s. */
const START_TIMEOUT_MS = 60_000;
const STDERR_CHARS = 4_000;

/** The engine's own program. */
export const ENGINE_MAIN = fileURLToPath(new URL('./engine-main.ts', import.meta.url));

export function startEngine(options: EnginePaths & { readonly memoryLimitBytes: number }): EngineProcess {
  const child = spawn(
    process.execPath,
    [
      // Keeps the garbage of answers small: 20 MB less memory when idle after work.
      '--max-semi-space-size=4',
      ENGINE_MAIN,
      options.dataDirectory,
      options.socketPath,
      String(options.memoryLimitBytes),
    ],
    {
      // A process group of its own, which the terminal's Ctrl-C does not reach.
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      // Nothing else is inherited: the engine needs no secret, and its SQL can read its environment.
      env: { UV_THREADPOOL_SIZE: '8', MALLOC_ARENA_MAX: '2', TZ: 'UTC', ...compileCache() },
      ...(options.user && { uid: options.user.uid, gid: options.user.gid, cwd: '/' }),
    },
  );
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_CHARS);
  });

  const ready = Promise.withResolvers<boolean>();
  const ended = Promise.withResolvers<EngineEnd>();
  const health = new AbortController();
  const startTimer = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS);
  child.on('message', () => {
    clearTimeout(startTimer);
    ready.resolve(true);
    void keepHealthy(child, options.socketPath, health.signal);
  });
  child.on('error', (error) => finish('ended', `it could not be started: ${error.message}`));
  child.on('close', (code, signal) => {
    if (code === EXIT.follower) finish('follower', 'another engine answers');
    else if (code === EXIT.unsupported)
      finish('unsupported', `the embedded ClickHouse engine cannot run here: ${lastLine(stderr)}`);
    else finish('ended', `it ended with ${signal ?? `exit code ${code}`}: ${lastLine(stderr)}`);
  });

  let killTimer: NodeJS.Timeout | undefined;
  function finish(kind: EngineEnd['kind'], reason: string): void {
    health.abort();
    clearTimeout(startTimer);
    clearTimeout(killTimer);
    ready.resolve(false);
    ended.resolve({ kind, reason });
  }

  return {
    pid: child.pid ?? 0,
    ready: ready.promise,
    ended: ended.promise,
    stop() {
      child.kill('SIGTERM');
      killTimer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    },
  };
}

/** Kills an engine that runs but no longer answers, so that the next one can replace it. */
async function keepHealthy(child: ChildProcess, socketPath: string, signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    await systemClock.sleep(HEALTH_EVERY_MS, signal);
    if (signal.aborted) return;
    failures = (await pingEngine(socketPath, HEALTH_TIMEOUT_MS)) === null ? failures + 1 : 0;
    if (failures >= HEALTH_FAILURES && !signal.aborted) child.kill('SIGKILL');
  }
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}

/** The directory where Node keeps compiled code, for a process of this one; nothing where it keeps none. */
function compileCache(): Record<string, string> {
  const directory = getCompileCacheDir();
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: dirname(directory) };
}
