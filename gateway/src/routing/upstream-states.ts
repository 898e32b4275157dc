import { hostname } from 'node:os';
import type { Clock } from '@gatehouse/concurrency';
import type { Queryable } from '@gatehouse/store';
import type { Logger } from 'pino';
import type { UpstreamChange } from './breakers.ts';
import { writeUpstreamStates } from './queries.ts';

// One statement at a time: what changes meanwhile goes with the next. Only the last change of an upstream counts.
const MOST_PENDING = 1_000;
const LONGEST_REASON = 200;

export interface UpstreamStatesOptions {
  readonly database: Pick<Queryable, 'run'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Pick<Logger, 'info'>;
  readonly instance?: string;
}

/**
 * Writes to the database which of the platform's upstreams this process does not use, for operators to read. No request waits
 * for it, and none depends on it: what cannot be written is dropped.
 */
export class UpstreamStates {
  readonly #options: UpstreamStatesOptions;
  readonly #instance: string;
  readonly #pending = new Map<string, UpstreamChange>();
  #writing: Promise<void> | undefined;

  constructor(options: UpstreamStatesOptions) {
    this.#options = options;
    this.#instance = options.instance ?? `${hostname().slice(0, 100)} ${process.pid}`;
  }

  /** An organisation's own credential is no business of the operator's. */
  add(change: UpstreamChange): void {
    const { provider, upstreamModel, credential, owner } = change.name;
    if (owner !== null || this.#pending.size >= MOST_PENDING) return;
    this.#pending.set(JSON.stringify([provider, upstreamModel, credential]), change);
    this.#writing ??= this.#writePending();
  }

  /** Writes nothing more. Resolves once what was begun has ended. */
  async close(): Promise<void> {
    this.#pending.clear();
    await this.#writing;
  }

  async #writePending(): Promise<void> {
    while (this.#pending.size > 0) {
      const changes = [...this.#pending.values()];
      this.#pending.clear();
      await this.#write(changes);
    }
    this.#writing = undefined;
  }

  async #write(changes: readonly UpstreamChange[]): Promise<void> {
    const { database, clock, log } = this.#options;
    const nowMs = clock.monotonicMs();
    try {
      await database.run(writeUpstreamStates, {
        instance: this.#instance,
        providers: changes.map(({ name }) => name.provider),
        upstreamModels: changes.map(({ name }) => name.upstreamModel),
        credentials: changes.map(({ name }) => name.credential),
        forMs: changes
          .map(({ opening }) => opening && Math.max(Math.ceil(opening.untilMs - nowMs), 0))
          .map(orNull),
        reasons: changes.map(({ opening }) => opening?.reason.slice(0, LONGEST_REASON)).map(orNull),
      });
    } catch (error) {
      log.info({ event: 'upstream.state_not_written', err: error }, 'states of upstreams not written');
    }
  }
}

function orNull<Value>(value: Value | undefined): Value | null {
  return value ?? null;
}
