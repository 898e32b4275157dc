import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureDatabase } from './answer.ts';
import type { Launch } from './launch.ts';
import type { NativeBinaries } from './native-binaries.ts';
import { readPidFile } from './pid-file.ts';
import {
  findStrays,
  identifyProcess,
  isAlive,
  type ProcessIdentity,
  type ServerMark,
  sendSignal,
} from './processes.ts';
import { EmbeddedPostgresRefused, reasonOf } from './refusal.ts';
import type { ServerLock } from './server-lock.ts';
import type { ServerLog } from './server-log.ts';
import { type ServerPlace, serverArguments } from './server-settings.ts';

/** A server that this process started. */
export interface ServerProcess {
  readonly identity: ProcessIdentity;
  /** Resolves with how it ended, in words. */
  readonly ended: Promise<string>;
}

const POLL_MS = 10;
// Recovery replays at most max_wal_size; a slow disk may take its time over that.
const READY_LIMIT_MS = 120_000;
const FAST_SHUTDOWN_MS = 10_000;
const IMMEDIATE_SHUTDOWN_MS = 6_000;

/** Starts the server and returns at once: whether it comes up is for awaitReady to say. */
export async function spawnServer(
  place: ServerPlace,
  native: NativeBinaries,
  launch: Launch,
  lock: ServerLock,
  log: ServerLog,
): Promise<ServerProcess> {
  const owner = identifyProcess(process.pid) ?? { pid: process.pid, startTicks: undefined };
  const note = { owner, socketDirectory: place.socketDirectory };
  // The last server's note must not stand beside this one's pid file: a container may give both the same pid.
  lock.note({ ...note, serverPid: 0 });
  // SIGINT is the orderly and quick shutdown, so the server goes down cleanly even when we are killed.
  const [program = '', ...args] = launch.command('INT', [native.postgres, ...serverArguments(place)]);
  const child = spawn(program, args, {
    cwd: '/',
    env: launch.env,
    // A session of its own: Ctrl-C in a terminal goes to a whole group, and we decide when the database stops.
    detached: true,
    stdio: ['ignore', log.fd, log.fd, lock.fd],
    ...(launch.uid === undefined ? {} : { uid: launch.uid }),
    ...(launch.gid === undefined ? {} : { gid: launch.gid }),
  });
  const ended = endOf(child);
  const identity = child.pid === undefined ? undefined : identifyProcess(child.pid);
  if (!identity) {
    // With a number it did start, and was gone before we looked.
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

/** Waits until the server says that it is ready and has answered a question. Throws, with the end of the server's log,
 *  when it ends instead or when `isUnwanted` turns true; it is not stopped here. */
export async function awaitReady(
  server: ServerProcess,
  place: ServerPlace,
  log: ServerLog,
  isUnwanted: () => boolean,
): Promise<void> {
  let end: string | undefined;
  void server.ended.then((words) => {
    end = words;
  });
  const deadline = Date.now() + READY_LIMIT_MS;
  for (;;) {
    const file = await readPidFile(place.clusterDir);
    if (end === undefined && file?.pid === server.identity.pid && file.status === 'ready') break;
    if (isUnwanted()) throw new EmbeddedPostgresRefused('The database server is no longer wanted.');
    if (end !== undefined) throw failure(`ended while starting (${end})`, await log.tail());
    if (Date.now() > deadline) throw failure(`was not ready in ${READY_LIMIT_MS / 1000} s`, await log.tail());
    await sleep(POLL_MS);
  }
  try {
    await ensureDatabase({ host: place.socketDirectory, port: place.port });
  } catch (error) {
    throw failure(`started but gave no answer (${reasonOf(error)})`, await log.tail());
  }
}

function failure(what: string, tail: string): EmbeddedPostgresRefused {
  return new EmbeddedPostgresRefused(`The database server ${what}. The end of its log:\n${tail}`);
}

/**
 * Ends a server, whoever started it, and returns when its processes are gone: first the fast shutdown, which loses
 * nothing and needs no recovery; then the immediate one, which loses nothing either; then by force.
 */
export async function retireServer(server: ProcessIdentity, place: ServerMark): Promise<void> {
  const steps = [
    ['SIGINT', FAST_SHUTDOWN_MS],
    ['SIGQUIT', IMMEDIATE_SHUTDOWN_MS],
    ['SIGKILL', IMMEDIATE_SHUTDOWN_MS],
  ] as const;
  for (const [signal, patienceMs] of steps) {
    sendSignal(server, signal);
    if (await goneWithin(server, patienceMs)) break;
  }
  await clearStrays(place);
}

async function goneWithin(server: ProcessIdentity, patienceMs: number): Promise<boolean> {
  const deadline = Date.now() + patienceMs;
  while (isAlive(server)) {
    if (Date.now() > deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
}

/** Ends what outlived a killed postmaster, as the postmaster itself would have after the crash of one of its
 *  processes. What such a process has committed is in the write-ahead log, and recovery keeps it. */
export async function clearStrays(place: ServerMark): Promise<number> {
  const strays = findStrays(place);
  for (const stray of strays) sendSignal(stray, 'SIGKILL');
  for (const stray of strays) await goneWithin(stray, IMMEDIATE_SHUTDOWN_MS);
  return strays.length;
}
