import { type ChildProcess, spawn } from 'node:child_process';
import { identifyProcess, ownProcess, type ProcessIdentity, systemClock } from '@gatehouse/concurrency';
import { ensureDatabase } from './connection-check.ts';
import { EmbeddedPostgresError, messageOf } from './errors.ts';
import type { Launch } from './launch.ts';
import type { NativeBinaries } from './native-binaries.ts';
import { readPidFile } from './pid-file.ts';
import { type ClusterNames, findOrphanedProcesses, isAlive, sendSignal } from './processes.ts';
import type { ServerLock } from './server-lock.ts';
import type { ServerLog } from './server-log.ts';
import { type ServerLocation, serverArguments } from './server-settings.ts';

/** A server that this process started. */
export interface ServerProcess {
  readonly identity: ProcessIdentity;
  /** Resolves with how it ended, for a message. */
  readonly ended: Promise<string>;
}

const POLL_MS = 10;
// Recovery replays at most max_wal_size, which a slow disk may need this long for.
const READY_TIMEOUT_MS = 120_000;
const FAST_SHUTDOWN_MS = 10_000;
const IMMEDIATE_SHUTDOWN_MS = 6_000;

/** Starts the server and returns at once; waitUntilReady tells whether it comes up. */
export async function spawnServer(
  location: ServerLocation,
  native: NativeBinaries,
  launch: Launch,
  lock: ServerLock,
  log: ServerLog,
): Promise<ServerProcess> {
  const note = { leader: ownProcess(), socketDirectory: location.socketDirectory };
  // The previous server's note must not match this one's pid file: in a container both may have the same pid.
  lock.note({ ...note, serverPid: 0 });
  // SIGINT is PostgreSQL's fast shutdown, so the server stops cleanly even when this process is killed.
  const [program = '', ...args] = launch.command('INT', [native.postgres, ...serverArguments(location)]);
  const child = spawn(program, args, {
    cwd: '/',
    env: launch.env,
    // A session of its own: Ctrl-C in a terminal reaches a whole group, but the leader decides when the server stops.
    detached: true,
    stdio: ['ignore', log.fd, log.fd, lock.fd],
    ...(launch.uid === undefined ? {} : { uid: launch.uid }),
    ...(launch.gid === undefined ? {} : { gid: launch.gid }),
  });
  const ended = endOf(child);
  const identity = child.pid === undefined ? undefined : identifyProcess(child.pid);
  if (!identity) {
    // With a pid it did start, and ended before it could be identified.
    const what = child.pid === undefined ? 'could not be started' : 'ended while starting';
    throw failure(`${what} (${await ended})`, await log.tail());
  }
  // The prefix programs replace themselves with the server, so the child's pid is the server's.
  lock.note({ ...note, serverPid: identity.pid });
  return { identity, ended };
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (status, signal) => resolve(signal ? `ended by ${signal}` : `exit status ${status}`));
  });
}

/** Waits until the server is ready and has answered a query. Throws, with the end of the server's log, when it ends
 *  instead, or when `signal` aborts. Does not stop the server. */
export async function waitUntilReady(
  server: ServerProcess,
  location: ServerLocation,
  log: ServerLog,
  signal: AbortSignal,
): Promise<void> {
  let end: string | undefined;
  void server.ended.then((reason) => {
    end = reason;
  });
  const deadline = systemClock.monotonicMs() + READY_TIMEOUT_MS;
  for (;;) {
    const file = await readPidFile(location.clusterDir);
    if (end === undefined && file?.pid === server.identity.pid && file.status === 'ready') break;
    if (signal.aborted) throw new EmbeddedPostgresError('The start of the database server was cancelled.');
    if (end !== undefined) throw failure(`ended while starting (${end})`, await log.tail());
    if (systemClock.monotonicMs() > deadline)
      throw failure(`was not ready in ${READY_TIMEOUT_MS / 1000} s`, await log.tail());
    await systemClock.sleep(POLL_MS);
  }
  try {
    await ensureDatabase({ host: location.socketDirectory, port: location.port });
  } catch (error) {
    throw failure(`started but did not answer (${messageOf(error)})`, await log.tail());
  }
}

function failure(what: string, tail: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(`The database server ${what}. The end of its log:\n${tail}`);
}

/**
 * Stops a server, its own or another process's, and returns when its processes have ended: first the fast shutdown,
 * which needs no recovery at the next start; then the immediate one; then SIGKILL. None loses a commit.
 */
export async function shutDownServer(server: ProcessIdentity, names: ClusterNames): Promise<void> {
  const steps = [
    ['SIGINT', FAST_SHUTDOWN_MS],
    ['SIGQUIT', IMMEDIATE_SHUTDOWN_MS],
    ['SIGKILL', IMMEDIATE_SHUTDOWN_MS],
  ] as const;
  for (const [signal, timeoutMs] of steps) {
    sendSignal(server, signal);
    if (await endedWithin(server, timeoutMs)) break;
  }
  await endOrphanedProcesses(names);
}

async function endedWithin(server: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const deadline = systemClock.monotonicMs() + timeoutMs;
  while (isAlive(server)) {
    if (systemClock.monotonicMs() > deadline) return false;
    await systemClock.sleep(POLL_MS);
  }
  return true;
}

/** Ends the processes that outlived a killed postmaster, as the postmaster would after the crash of one of them. What
 *  they have committed is in the write-ahead log, and recovery keeps it. */
export async function endOrphanedProcesses(names: ClusterNames): Promise<number> {
  const orphans = findOrphanedProcesses(names);
  for (const orphan of orphans) sendSignal(orphan, 'SIGKILL');
  for (const orphan of orphans) await endedWithin(orphan, IMMEDIATE_SHUTDOWN_MS);
  return orphans.length;
}
