/**
 * The embedded ClickHouse engine, as the rest of the service sees it: a socket that answers, kept answering.
 *
 * Several processes may open one data directory, and only one engine process can hold it. Each process runs the same
 * small loop. It asks the socket. If an engine answers, the process is a guest: it holds a connection open and waits
 * for its end. If nobody answers, it starts an engine, becomes the owner, and waits for that process to end. After
 * either end the loop goes round again, so the same few lines restart a crashed engine and replace a dead owner. When
 * two processes start an engine at once, the lock on the directory lets one through and the other becomes a guest.
 *
 * The engine is no child of the terminal's process group, so Ctrl-C does not reach it, and it ends by itself when the
 * channel to its owner breaks, so `kill -9` of the owner leaves no orphan.
 */
import { totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EngineEnd, type EngineProcess, startEngine } from './engine-process.ts';
import { prepareEnginePaths } from './paths.ts';
import { pingEngine, watchEngine } from './probe.ts';

export type EngineEvent =
  | {
      readonly kind: 'ready';
      readonly role: 'owner' | 'guest';
      readonly pid: number;
      readonly afterMs: number;
    }
  /** The engine ended without being asked to; `reason` is one line for the log. */
  | { readonly kind: 'lost'; readonly role: 'owner' | 'guest'; readonly reason: string }
  /** Not ready when the opening's patience ended; the service goes on and so do the attempts. */
  | { readonly kind: 'unavailable'; readonly reason: string };

export type EmbeddedClickHouse = AsyncDisposable & {
  /** For logs; the client connects by `socketPath`. */
  readonly url: string;
  readonly socketPath: string;
  /** Owner when this process runs the engine. It can change at any time. */
  role(): 'owner' | 'guest';
  /** The engine's process id, or null while none is known to answer. */
  enginePid(): number | null;
};

export type EmbeddedClickHouseOptions = {
  /** The service's data directory; the engine uses `clickhouse` in it. */
  readonly dataDir: string;
  readonly onEvent?: (event: EngineEvent) => void;
  /** Bounds what all queries together may allocate. Default: half of the memory that is there, at most 4 GiB. */
  readonly memoryLimitBytes?: number;
  /** How long opening waits for an answering engine before it leaves the attempts to the background. */
  readonly readyPatienceMs?: number;
};

const READY_PATIENCE_MS = 20_000;
/** How long a guest leaves the restart to an owner that is still alive. */
const OWNER_FIRST_MS = 1_500;
/** Backoff of the owner: generous to an engine that answered once, slow for one that never gets ready. */
const RESTART_CAP_MS = { answered: 1_000, never: 10_000 };
const STABLE_AFTER_MS = 10_000;

/**
 * Opens the engine under `dataDir` and keeps it running until disposal.
 *
 * @throws Error when the directory cannot be used or chDB does not exist for this platform
 */
export async function openEmbeddedClickHouse(
  options: EmbeddedClickHouseOptions,
): Promise<EmbeddedClickHouse> {
  const paths = prepareEnginePaths(options.dataDir);
  const memoryLimitBytes = options.memoryLimitBytes ?? defaultMemoryLimitBytes();
  const onEvent = options.onEvent ?? (() => {});
  const stop = new AbortController();
  const firstReady = Promise.withResolvers<void>();
  const openedAt = Date.now();
  let role: 'owner' | 'guest' = 'guest';
  let pid: number | null = null;
  let lastReason = 'it has not started yet';
  let failures = 0;

  function ready(as: 'owner' | 'guest', enginePid: number, since: number): void {
    role = as;
    pid = enginePid;
    onEvent({ kind: 'ready', role, pid, afterMs: Date.now() - since });
    firstReady.resolve();
  }

  function lost(reason: string): void {
    const answered = pid !== null;
    pid = null;
    lastReason = reason;
    if (answered && !stop.signal.aborted) onEvent({ kind: 'lost', role, reason });
  }

  async function beGuest(): Promise<void> {
    let ownerPid = 0;
    const since = Date.now();
    const tookLeave = await watchEngine(paths.socketPath, stop.signal, (sighting) => {
      ownerPid = sighting.ownerPid;
      ready('guest', sighting.enginePid, since);
    });
    lost('the engine of another process ended');
    const patienceEnds = Date.now() + OWNER_FIRST_MS;
    while (!tookLeave && isAlive(ownerPid) && Date.now() < patienceEnds && !stop.signal.aborted) {
      await pause(100);
      if ((await pingEngine(paths.socketPath)) !== null) return;
    }
    await pause(Math.random() * 100);
  }

  async function beOwner(): Promise<void> {
    const since = Date.now();
    const engine: EngineProcess = startEngine({ ...paths, memoryLimitBytes });
    stop.signal.addEventListener('abort', engine.stop, { once: true });
    if (stop.signal.aborted) engine.stop();
    const answered = await engine.ready;
    const readyAt = Date.now();
    if (answered) ready('owner', engine.pid, since);
    const end: EngineEnd = await engine.ended;
    stop.signal.removeEventListener('abort', engine.stop);
    if (end.kind !== 'guest') lost(end.reason);
    role = 'guest';
    if (end.kind === 'guest') return;
    if (end.kind === 'unsupported') firstReady.reject(new Error(end.reason));
    failures = answered && Date.now() - readyAt > STABLE_AFTER_MS ? 0 : failures + 1;
    const cap = answered ? RESTART_CAP_MS.answered : RESTART_CAP_MS.never;
    if (failures > 1) await pause(Math.min(100 * 2 ** (failures - 2), cap));
  }

  async function supervise(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        if ((await pingEngine(paths.socketPath)) !== null) await beGuest();
        else if (!stop.signal.aborted) await beOwner();
      } catch (error) {
        lost(error instanceof Error ? error.message : String(error));
        await pause(RESTART_CAP_MS.answered);
      }
    }
  }

  async function pause(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: stop.signal }).catch(() => {});
  }

  const supervision = supervise();
  async function dispose(): Promise<void> {
    stop.abort();
    await supervision;
  }

  const patienceMs = options.readyPatienceMs ?? READY_PATIENCE_MS;
  const patience = new AbortController();
  const tooLate = sleep(patienceMs, 'late', { signal: patience.signal }).catch(() => 'ready');
  try {
    if ((await Promise.race([firstReady.promise, tooLate])) === 'late') {
      onEvent({ kind: 'unavailable', reason: `no engine after ${Date.now() - openedAt} ms: ${lastReason}` });
      firstReady.promise.catch(() => {});
    }
  } catch (error) {
    await dispose();
    throw error;
  } finally {
    patience.abort();
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

/** A process of another user or namespace may look dead; the guest then tries at once, and the lock decides. */
function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
