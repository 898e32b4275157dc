/**
 * The embedded ClickHouse engine: a socket, and a loop that keeps an engine answering on it.
 *
 * Several processes may open one data directory, but only one engine process can have it. Each process runs the same
 * loop. It pings the socket. If an engine answers, the process is a follower: it keeps a connection open and waits for
 * its end. If none answers, it starts an engine, becomes the leader, and waits for the engine to end. Then the loop
 * starts over, so the same few lines restart a crashed engine and replace a dead leader. When two processes start an
 * engine at once, the lock on the directory admits one, and the other becomes a follower.
 *
 * The engine is not in the terminal's process group, so Ctrl-C does not reach it. It ends when the IPC channel to its
 * leader closes, so `kill -9` of the leader leaves no orphaned engine.
 */
import { totalmem } from 'node:os';
import { createBackoff, finishesWithin, identifyProcess, systemClock } from '@gatehouse/concurrency';
import { DataOwnerError } from '../data-owner.ts';
import { type EngineEnd, type EngineProcess, startEngine } from './engine-process.ts';
import { pingEngine, watchEngine } from './engine-status.ts';
import { findUnusableData, prepareEnginePaths } from './paths.ts';

export type EngineEvent =
  | {
      readonly kind: 'ready';
      readonly role: 'leader' | 'follower';
      readonly pid: number;
      readonly afterMs: number;
    }
  /** The engine ended unexpectedly; `reason` is one line for the log. */
  | { readonly kind: 'lost'; readonly role: 'leader' | 'follower'; readonly reason: string }
  /** Not ready in time for opening; opening succeeds all the same and the attempts continue. */
  | { readonly kind: 'unavailable'; readonly reason: string };

/** The engine cannot run on this machine. The message is a sentence that an operator can act on. */
export class EmbeddedClickHouseError extends Error {
  override readonly name = 'EmbeddedClickHouseError';
}

export type EmbeddedClickHouse = AsyncDisposable & {
  /** For logs; the client connects by `socketPath`. */
  readonly url: string;
  readonly socketPath: string;
  /** The leader runs the engine; a follower uses it. It can change at any time. */
  role(): 'leader' | 'follower';
  /** The engine's process id, or null while none answers. */
  enginePid(): number | null;
};

export type EmbeddedClickHouseOptions = {
  /** The service's data directory; the engine uses `clickhouse` in it. */
  readonly dataDir: string;
  readonly onEvent?: (event: EngineEvent) => void;
  /** Bounds the memory of all queries together. Default: half of the system's memory, at most 4 GiB. */
  readonly memoryLimitBytes?: number;
  /** How long opening waits for an engine before it leaves the attempts to the background. */
  readonly readyTimeoutMs?: number;
};

const READY_TIMEOUT_MS = 20_000;
/** How long a follower waits for a living leader to restart the engine. */
const LEADER_RESTART_MS = 1_500;
/** Restarts are quick for an engine that has answered, slow for one that never gets ready. */
const RESTART_MAX_MS = { answered: 1_000, never: 10_000 };
const STABLE_AFTER_MS = 10_000;

/**
 * Opens the engine under `dataDir` and keeps it running until disposal.
 *
 * @throws DataOwnerError when something in the directory is another user's
 * @throws Error when the directory cannot be used, EmbeddedClickHouseError when chDB is not installed or does not exist for this platform
 */
export async function openEmbeddedClickHouse(
  options: EmbeddedClickHouseOptions,
): Promise<EmbeddedClickHouse> {
  const paths = prepareEnginePaths(options.dataDir);
  // A follower too, which may have to lead at any time.
  const unusable = findUnusableData(options.dataDir, paths);
  if (unusable !== undefined) throw new DataOwnerError(unusable);
  const memoryLimitBytes = options.memoryLimitBytes ?? defaultMemoryLimitBytes();
  const onEvent = options.onEvent ?? (() => {});
  const stop = new AbortController();
  const firstReady = Promise.withResolvers<void>();
  const openedAt = systemClock.monotonicMs();
  let role: 'leader' | 'follower' = 'follower';
  let pid: number | null = null;
  let lastReason = 'it has not started yet';
  const restart = createBackoff({
    firstMs: 100,
    maxMs: RESTART_MAX_MS.never,
    immediateRetries: 1,
  });

  function ready(as: 'leader' | 'follower', enginePid: number, since: number): void {
    role = as;
    pid = enginePid;
    onEvent({ kind: 'ready', role, pid, afterMs: Math.round(systemClock.monotonicMs() - since) });
    firstReady.resolve();
  }

  function lost(reason: string): void {
    const answered = pid !== null;
    pid = null;
    lastReason = reason;
    if (answered && !stop.signal.aborted) onEvent({ kind: 'lost', role, reason });
  }

  async function follow(): Promise<void> {
    let leaderPid = 0;
    const since = systemClock.monotonicMs();
    const isStopped = await watchEngine(paths.socketPath, stop.signal, (status) => {
      leaderPid = status.leaderPid;
      ready('follower', status.enginePid, since);
    });
    lost('the engine of another process ended');
    const deadline = systemClock.monotonicMs() + LEADER_RESTART_MS;
    while (
      !isStopped &&
      identifyProcess(leaderPid) &&
      systemClock.monotonicMs() < deadline &&
      !stop.signal.aborted
    ) {
      await pause(100);
      if ((await pingEngine(paths.socketPath)) !== null) return;
    }
    await pause(Math.random() * 100);
  }

  async function lead(): Promise<void> {
    // The engine would retry for ever on a file that it cannot open, and would not say which.
    const unusable = findUnusableData(options.dataDir, paths);
    if (unusable !== undefined) {
      lost(unusable);
      await pause(RESTART_MAX_MS.never);
      return;
    }
    const since = systemClock.monotonicMs();
    const engine: EngineProcess = startEngine({ ...paths, memoryLimitBytes });
    stop.signal.addEventListener('abort', engine.stop, { once: true });
    if (stop.signal.aborted) engine.stop();
    const answered = await engine.ready;
    const readyAt = systemClock.monotonicMs();
    if (answered) ready('leader', engine.pid, since);
    const end: EngineEnd = await engine.ended;
    stop.signal.removeEventListener('abort', engine.stop);
    if (end.kind !== 'follower') lost(end.reason);
    role = 'follower';
    if (end.kind === 'follower') return;
    if (end.kind === 'unsupported') firstReady.reject(new EmbeddedClickHouseError(end.reason));
    if (answered && systemClock.monotonicMs() - readyAt > STABLE_AFTER_MS) restart.reset();
    else await pause(Math.min(restart.nextMs(), answered ? RESTART_MAX_MS.answered : RESTART_MAX_MS.never));
  }

  async function supervise(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        if ((await pingEngine(paths.socketPath)) !== null) await follow();
        else if (!stop.signal.aborted) await lead();
      } catch (error) {
        lost(error instanceof Error ? error.message : String(error));
        await pause(RESTART_MAX_MS.answered);
      }
    }
  }

  const pause = (ms: number) => systemClock.sleep(ms, stop.signal);

  const supervision = supervise();
  async function dispose(): Promise<void> {
    stop.abort();
    await supervision;
  }

  try {
    if (!(await finishesWithin(firstReady.promise, options.readyTimeoutMs ?? READY_TIMEOUT_MS))) {
      onEvent({
        kind: 'unavailable',
        reason: `no engine after ${Math.round(systemClock.monotonicMs() - openedAt)} ms: ${lastReason}`,
      });
      firstReady.promise.catch(() => {});
    }
  } catch (error) {
    await dispose();
    throw error;
  }

  return {
    url: `http+unix://${encodeURIComponent(paths.socketPath)}`,
    socketPath: paths.socketPath,
    role: () => role,
    enginePid: () => pid,
    [Symbol.asyncDispose]: dispose,
  };
}

function defaultMemoryLimitBytes(): number {
  const half = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY) / 2;
  return Math.round(Math.min(Math.max(half, 512 * 1024 ** 2), 4 * 1024 ** 3));
}
