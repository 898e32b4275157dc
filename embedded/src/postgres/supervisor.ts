import { createBackoff, systemClock } from '@gatehouse/concurrency';
import type { ClusterPaths } from './cluster-paths.ts';
import { acceptsQueries, type ServerAddress } from './connection-check.ts';
import { EmbeddedPostgresError, messageOf } from './errors.ts';
import { isAlive } from './processes.ts';
import { tryServerLock } from './server-lock.ts';
import { endOrphanedProcesses, shutDownServer } from './server-process.ts';
import { isOrphaned, readServerStatus, type ServerStatus } from './server-status.ts';
import { type RunningServer, startServer } from './start-server.ts';
import type { SystemTools } from './system-tools.ts';

/*
 * Several processes use one data directory: the service, its gateway, the operator's commands. None of them is special.
 * Each runs this supervisor, and each supervisor does the same, `followOrLead`, when it starts and whenever the server
 * has gone:
 *
 *     is a server running whose leader is alive?   follow it
 *     is one running whose leader is dead?         stop it, then check again
 *     is the lock free?                            take it, start the server, be its leader
 *     otherwise                                    another process is starting or stopping one; check again shortly
 *
 * There can be only one server, because it inherits the lock, which stays taken until the last of its processes has
 * ended (server-lock.ts). So no step has to be right about the state of the others: a wrong guess costs one more round
 * of the loop, never a second server.
 *
 * The system tells the leader when its server ends. A follower checks twice a second whether the server and its leader
 * are alive, and otherwise starts over; of several followers the one that gets the lock becomes the leader. A leader
 * that is killed takes its server with it, by a fast shutdown that setpriv arranged; where there is no setpriv, the
 * second question finds the orphaned server.
 */
export interface SupervisorEvent {
  readonly kind:
    | 'started'
    | 'joined'
    | 'lost'
    | 'orphaned-server-stopped'
    | 'orphaned-processes-ended'
    | 'restart-failed';
  readonly message: string;
}

type State =
  | { readonly role: 'leader'; readonly server: RunningServer }
  | { readonly role: 'follower'; readonly status: ServerStatus };

const POLL_MS = 25;
const WATCH_MS = 500;
const ORPHANED_PROCESSES_EVERY_MS = 250;
const TIMEOUT_MS = 120_000;
const RESTART_BACKOFF = { firstMs: 250, maxMs: 5_000 };
// Without an exclusive lock, another process's start or a zombie's pid can make a start fail; all of these pass.
const UNLOCKED_RETRY_MS = 10_000;

export class Supervisor {
  readonly #paths: ClusterPaths;
  readonly #tools: SystemTools;
  readonly #nativeFolder: string;
  readonly #onEvent: (event: SupervisorEvent) => void;
  readonly #closing = new AbortController();
  #state: State | undefined;
  #role: 'leader' | 'follower' = 'follower';
  #followed: string | undefined;
  #recovery: Promise<void> | undefined;
  #watch: NodeJS.Timeout | undefined;

  constructor(
    paths: ClusterPaths,
    tools: SystemTools,
    nativeFolder: string,
    onEvent: (event: SupervisorEvent) => void,
  ) {
    this.#paths = paths;
    this.#tools = tools;
    this.#nativeFolder = nativeFolder;
    this.#onEvent = onEvent;
  }

  /** To be called once. The address does not change afterwards. */
  async open(): Promise<ServerAddress> {
    const state = await this.#followOrLead({ mayCreate: true });
    this.#watch = setInterval(() => this.#check(), WATCH_MS);
    return state.role === 'leader'
      ? state.server.address
      : { host: state.status.host, port: state.status.port };
  }

  /** The last one, while there is no server. */
  role(): 'leader' | 'follower' {
    return this.#role;
  }

  serverPid(): number | undefined {
    return this.#state?.role === 'leader' ? this.#state.server.pid : this.#state?.status.pid;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#watch);
    await this.#recovery;
    const state = this.#state;
    this.#state = undefined;
    if (state?.role === 'leader') await state.server.stop();
  }

  #check(): void {
    const state = this.#state;
    if (state?.role === 'leader') {
      // The next check tries again.
      state.server.trimLog().catch(() => undefined);
    } else if (state && !(state.status.server && isAlive(state.status.server))) {
      this.#recover('The database server has ended.');
    } else if (state && isOrphaned(state.status)) {
      this.#recover('The process that ran the database server has ended.');
    }
  }

  #recover(message: string): void {
    const lost = this.#state;
    if (!lost || this.#recovery || this.#closing.signal.aborted) return;
    // A server whose process cannot be seen is queried again at every check. It is not lost until it fails to answer.
    if (lost.role === 'leader' || lost.status.server) {
      this.#state = undefined;
      this.#emit('lost', message);
    }
    this.#recovery = this.#restart(lost).finally(() => {
      this.#recovery = undefined;
    });
  }

  async #restart(lost: State): Promise<void> {
    if (lost.role === 'leader') {
      await lost.server.abandon().catch((error: unknown) => this.#emit('restart-failed', messageOf(error)));
    }
    const backoff = createBackoff(RESTART_BACKOFF);
    for (;;) {
      try {
        // A directory that vanished under a running server must not be replaced by an empty one.
        await this.#followOrLead({ mayCreate: false });
        return;
      } catch (error) {
        this.#state = undefined;
        if (this.#closing.signal.aborted) return;
        this.#emit('restart-failed', messageOf(error));
        await systemClock.sleep(backoff.nextMs(), this.#closing.signal);
      }
    }
  }

  async #followOrLead({ mayCreate }: { mayCreate: boolean }): Promise<State> {
    const startedAt = systemClock.monotonicMs();
    let endOrphansAt = startedAt + ORPHANED_PROCESSES_EVERY_MS;
    for (;;) {
      if (this.#closing.signal.aborted) throw new EmbeddedPostgresError('The database is being closed.');
      const status = await readServerStatus(this.#paths);
      if (status?.server && isOrphaned(status)) {
        await shutDownServer(status.server, this.#paths);
        this.#emit('orphaned-server-stopped', `Server ${status.pid} had lost its leader and was stopped.`);
      } else if (status?.ready && (await acceptsQueries(status))) {
        return this.#follow(status);
      } else if (!status?.server) {
        const server = await this.#tryToStart(mayCreate, startedAt);
        if (server) return this.#lead(server);
        if (systemClock.monotonicMs() >= endOrphansAt) {
          const ended = await endOrphanedProcesses(this.#paths);
          if (ended > 0)
            this.#emit('orphaned-processes-ended', `${ended} processes of a killed server were ended.`);
          endOrphansAt = systemClock.monotonicMs() + ORPHANED_PROCESSES_EVERY_MS;
        }
      }
      if (systemClock.monotonicMs() - startedAt > TIMEOUT_MS) throw timeoutError(this.#paths, status);
      await systemClock.sleep(POLL_MS);
    }
  }

  async #tryToStart(mayCreate: boolean, startedAt: number): Promise<RunningServer | undefined> {
    const lock = await tryServerLock(this.#paths.lockFile, this.#tools);
    if (!lock) return undefined;
    try {
      return await startServer(lock, {
        paths: this.#paths,
        tools: this.#tools,
        nativeFolder: this.#nativeFolder,
        mayCreate,
        signal: this.#closing.signal,
      });
    } catch (error) {
      if (lock.exclusive) throw error;
      if (systemClock.monotonicMs() - startedAt < UNLOCKED_RETRY_MS) return undefined;
      // On a slow disk initdb alone takes longer. The start failed because another process's server is there: it is followed.
      if ((await readServerStatus(this.#paths))?.server) return undefined;
      throw error;
    }
  }

  #lead(server: RunningServer): State {
    const state: State = { role: 'leader', server };
    this.#state = state;
    this.#role = 'leader';
    this.#followed = undefined;
    this.#emit('started', `The database server runs as process ${server.pid}.`);
    void server.ended.then((reason) => {
      if (this.#state === state) this.#recover(`The database server has ended: ${reason}`);
    });
    return state;
  }

  #follow(status: ServerStatus): State {
    const state: State = { role: 'follower', status };
    this.#state = state;
    this.#role = 'follower';
    const followed = `${status.pid} ${status.startedAtSeconds}`;
    if (this.#followed !== followed)
      this.#emit('joined', `Using the database server that runs as process ${status.pid}.`);
    this.#followed = followed;
    return state;
  }

  #emit(kind: SupervisorEvent['kind'], message: string): void {
    this.#onEvent({ kind, message });
  }
}

function timeoutError(paths: ClusterPaths, status: ServerStatus | undefined): EmbeddedPostgresError {
  const holder = status?.server ? `Process ${status.pid}` : 'Another process';
  return new EmbeddedPostgresError(
    `${holder} has held the database in ${paths.clusterDir} for ${TIMEOUT_MS / 1000} s without answering.`,
  );
}
