import { hostname } from 'node:os';
import type { Clock } from '@gatehouse/concurrency';
import type { Queryable } from '@gatehouse/store';
import type { Logger } from 'pino';
import type { ListedUpstream, UpstreamChange } from './breakers.ts';
import type { Opening } from './open-state.ts';
import { writeUpstreamStates } from './queries.ts';

// One statement at a time: what changes meanwhile goes with the next. An upstream is written as it is then.
const MAX_PENDING = 1_000;
const MAX_REASON_LENGTH = 200;

export interface UpstreamStatesOptions {
  readonly database: Pick<Queryable, 'run'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Pick<Logger, 'info'>;
  /** The platform's upstreams that are not closed. */
  readonly list: () => readonly ListedUpstream[];
  readonly instance?: string;
}

/** The facts of an upstream that are written: whether operators can use it, whatever its surface. */
type Written = Pick<UpstreamChange['name'], 'provider' | 'upstreamModel' | 'credential'>;

/** Why an upstream is not used, and for whom. */
interface Shown {
  readonly opening: Opening;
  readonly isForAll: boolean;
  readonly reason: string;
}

/**
 * Writes to the database which of the platform's upstreams this process does not use, for operators to read. No request waits
 * for it, and none depends on it: what cannot be written is dropped.
 */
export class UpstreamStates {
  readonly #options: UpstreamStatesOptions;
  readonly #instance: string;
  readonly #pending = new Map<string, Written>();
  #writing: Promise<void> | undefined;

  constructor(options: UpstreamStatesOptions) {
    this.#options = options;
    this.#instance = options.instance ?? `${hostname().slice(0, 100)} ${process.pid}`;
  }

  /** An organisation's own credential is no business of the operator's. */
  add({ name }: UpstreamChange): void {
    if (name.owner !== null || this.#pending.size >= MAX_PENDING) return;
    this.#pending.set(keyOf(name), name);
    this.#writing ??= this.#writePending();
  }

  /** Writes nothing more. Resolves once what was begun has ended. */
  async close(): Promise<void> {
    this.#pending.clear();
    await this.#writing;
  }

  async #writePending(): Promise<void> {
    while (this.#pending.size > 0) {
      const names = [...this.#pending.values()];
      this.#pending.clear();
      await this.#write(names);
    }
    this.#writing = undefined;
  }

  async #write(names: readonly Written[]): Promise<void> {
    const { database, clock, log, list } = this.#options;
    const nowMs = clock.monotonicMs();
    const shown = shownOf(list());
    const states = names.map((name) => shown.get(keyOf(name)));
    try {
      await database.run(writeUpstreamStates, {
        instance: this.#instance,
        providers: names.map(({ provider }) => provider),
        upstreamModels: names.map(({ upstreamModel }) => upstreamModel),
        credentials: names.map(({ credential }) => credential),
        forMs: states
          .map((state) => state && Math.max(Math.ceil(state.opening.untilMs - nowMs), 0))
          .map(orNull),
        reasons: states.map((state) => state?.reason.slice(0, MAX_REASON_LENGTH)).map(orNull),
      });
    } catch (error) {
      log.info({ event: 'upstream.state_not_written', err: error }, 'states of upstreams not written');
    }
  }
}

/** The surface of an upstream that is shown: the one that is not used by most, and longest. */
function shownOf(listed: readonly ListedUpstream[]): ReadonlyMap<string, Shown> {
  const shown = new Map<string, Shown>();
  for (const { name, forAll, forSome } of listed) {
    const opening = forAll ?? forSome?.opening;
    if (!opening) continue;
    const who = forAll ? 'all organisations' : organizations(forSome?.organizations ?? 0);
    const one = {
      opening,
      isForAll: forAll !== undefined,
      reason: `${opening.reason} (${name.surface}, for ${who})`,
    };
    const known = shown.get(keyOf(name));
    if (!known || isWorse(one, known)) shown.set(keyOf(name), one);
  }
  return shown;
}

function isWorse(one: Shown, other: Shown): boolean {
  if (one.isForAll !== other.isForAll) return one.isForAll;
  return one.opening.untilMs > other.opening.untilMs;
}

function organizations(count: number): string {
  return count === 1 ? 'one organisation' : `${count} organisations`;
}

function keyOf({ provider, upstreamModel, credential }: Written): string {
  return JSON.stringify([provider, upstreamModel, credential]);
}

function orNull<Value>(value: Value | undefined): Value | null {
  return value ?? null;
}
