import { setTimeout as sleep } from 'node:timers/promises';
import { answers, type ServerAddress } from './answer.ts';
import { type OwnServer, startOwnServer } from './own-server.ts';
import type { Place } from './place.ts';
import { isAlive } from './processes.ts';
import { EmbeddedPostgresRefused, reasonOf } from './refusal.ts';
import { tryServerLock } from './server-lock.ts';
import { clearStrays, retireServer } from './server-process.ts';
import { isOrphaned, type Sighting, sightServer } from './sighting.ts';
import type { SystemTools } from './system-tools.ts';

/*
 * Several processes of ours use one data directory: the service, a second role of it, the operator's commands. None of
 * them is special. Each runs this supervisor, and each supervisor does the same thing, `settle`, at its start and
 * whenever the server has gone:
 *
 *     is a server running that has an owner?   be its guest
 *     is one running whose owner is dead?      ask it to stop, wait, look again
 *     is the lock free?                        take it, start the server, be its owner
 *     otherwise                                somebody is starting or stopping one; look again shortly
 *
 * There can be one server only, because the lock is handed on to it and stays taken until the last of its processes
 * has gone (server-lock.ts). So no step has to be right about the state of the others: a wrong guess costs a turn of
 * the loop, never a second server.
 *
 * An owner knows from the system when its server ends. A guest looks twice a second whether the server and its owner
 * still live, and settles again if not; of several guests the one that gets the lock becomes the owner. An owner that
 * is killed takes its server with it, in an orderly way, by the signal that setpriv arranged; where there is no
 * setpriv, the orphan is found by the second question.
 */
export interface SupervisorEvent {
  readonly kind: 'started' | 'joined' | 'lost' | 'orphan-stopped' | 'strays-ended' | 'restart-failed';
  readonly message: string;
}

type State =
  | { readonly role: 'owner'; readonly own: OwnServer }
  | { readonly role: 'guest'; readonly seen: Sighting };

const LOOK_AGAIN_MS = 25;
const WATCH_MS = 500;
const STRAYS_AFTER_MS = 250;
const SETTLE_LIMIT_MS = 120_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
// Without a lock, a rival's start or a zombie's pid can spoil ours in many ways, and all of them pass.
const UNLOCKED_PATIENCE_MS = 10_000;

export class Supervisor {
  readonly #place: Place;
  readonly #tools: SystemTools;
  readonly #nativeFolder: string;
  readonly #onEvent: (event: SupervisorEvent) => void;
  readonly #closing = new AbortController();
  #state: State | undefined;
  #role: 'owner' | 'guest' = 'guest';
  #joined: string | undefined;
  #recovery: Promise<void> | undefined;
  #watch: NodeJS.Timeout | undefined;

  constructor(
    place: Place,
    tools: SystemTools,
    nativeFolder: string,
    onEvent: (event: SupervisorEvent) => void,
  ) {
    this.#place = place;
    this.#tools = tools;
    this.#nativeFolder = nativeFolder;
    this.#onEvent = onEvent;
  }

  /** To be called once. The address does not change afterwards. */
  async open(): Promise<ServerAddress> {
    const state = await this.#settle({ mayCreate: true });
    this.#watch = setInterval(() => this.#look(), WATCH_MS);
    return state.role === 'owner' ? state.own.address : { host: state.seen.host, port: state.seen.port };
  }

  /** The last one, while there is no server. */
  role(): 'owner' | 'guest' {
    return this.#role;
  }

  serverPid(): number | undefined {
    return this.#state?.role === 'owner' ? this.#state.own.pid : this.#state?.seen.pid;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#watch);
    await this.#recovery;
    const state = this.#state;
    this.#state = undefined;
    if (state?.role === 'owner') await state.own.stop();
  }

  #look(): void {
    const state = this.#state;
    if (state?.role === 'owner') {
      // A log that could not be cut down is tried again at the next look.
      state.own.trimLog().catch(() => undefined);
    } else if (state && !(state.seen.server && isAlive(state.seen.server))) {
      this.#recover('The database server has gone.');
    } else if (state && isOrphaned(state.seen)) {
      this.#recover('The process that ran the database server has gone.');
    }
  }

  #recover(message: string): void {
    const lost = this.#state;
    if (!lost || this.#recovery || this.#closing.signal.aborted) return;
    // A server whose process cannot be seen is asked again at every look, which is no news.
    if (lost.role === 'owner' || lost.seen.server) {
      this.#state = undefined;
      this.#tell('lost', message);
    }
    this.#recovery = this.#settleAgain(lost).finally(() => {
      this.#recovery = undefined;
    });
  }

  async #settleAgain(lost: State): Promise<void> {
    if (lost.role === 'owner') {
      await lost.own.abandon().catch((error: unknown) => this.#tell('restart-failed', reasonOf(error)));
    }
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        // A directory that vanished under a running server must not be replaced by an empty one.
        await this.#settle({ mayCreate: false });
        return;
      } catch (error) {
        this.#state = undefined;
        if (this.#closing.signal.aborted) return;
        this.#tell('restart-failed', reasonOf(error));
        await sleep(pauseMs, undefined, { signal: this.#closing.signal }).catch(() => undefined);
      }
    }
  }

  async #settle({ mayCreate }: { mayCreate: boolean }): Promise<State> {
    const begun = Date.now();
    let straysDue = begun + STRAYS_AFTER_MS;
    for (;;) {
      if (this.#closing.signal.aborted) throw new EmbeddedPostgresRefused('The database is being closed.');
      const seen = await sightServer(this.#place);
      if (seen?.server && isOrphaned(seen)) {
        await retireServer(seen.server, this.#place);
        this.#tell('orphan-stopped', `The server ${seen.pid} had lost its owner and was stopped.`);
      } else if (seen?.ready && (await answers(seen))) {
        return this.#become({ role: 'guest', seen });
      } else if (!seen?.server) {
        const own = await this.#tryToStart(mayCreate, begun);
        if (own) return this.#become({ role: 'owner', own });
        if (Date.now() >= straysDue) {
          const ended = await clearStrays(this.#place);
          if (ended > 0) this.#tell('strays-ended', `${ended} processes of a killed server were ended.`);
          straysDue = Date.now() + STRAYS_AFTER_MS;
        }
      }
      if (Date.now() - begun > SETTLE_LIMIT_MS) throw stuck(this.#place, seen);
      await sleep(LOOK_AGAIN_MS);
    }
  }

  async #tryToStart(mayCreate: boolean, begun: number): Promise<OwnServer | undefined> {
    const lock = await tryServerLock(this.#place.lockFile, this.#tools);
    if (!lock) return undefined;
    try {
      return await startOwnServer(lock, {
        place: this.#place,
        tools: this.#tools,
        nativeFolder: this.#nativeFolder,
        mayCreate,
        isUnwanted: () => this.#closing.signal.aborted,
      });
    } catch (error) {
      if (!lock.exclusive && Date.now() - begun < UNLOCKED_PATIENCE_MS) return undefined;
      throw error;
    }
  }

  #become(state: State): State {
    this.#state = state;
    this.#role = state.role;
    if (state.role === 'owner') {
      this.#joined = undefined;
      this.#tell('started', `The database server runs as process ${state.own.pid}.`);
      void state.own.ended.then((words) => {
        if (this.#state === state) this.#recover(`The database server has ended: ${words}`);
      });
    } else {
      const joined = `${state.seen.pid} ${state.seen.startedAtSeconds}`;
      if (this.#joined !== joined)
        this.#tell('joined', `Using the database server that runs as process ${state.seen.pid}.`);
      this.#joined = joined;
    }
    return state;
  }

  #tell(kind: SupervisorEvent['kind'], message: string): void {
    this.#onEvent({ kind, message });
  }
}

function stuck(place: Place, seen: Sighting | undefined): EmbeddedPostgresRefused {
  const who = seen?.server ? `Process ${seen.pid}` : 'Another process';
  return new EmbeddedPostgresRefused(
    `${who} has held the database in ${place.clusterDir} for ${SETTLE_LIMIT_MS / 1000} s without answering.`,
  );
}
