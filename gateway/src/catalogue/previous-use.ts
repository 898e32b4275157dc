import type { Clock } from '@gatehouse/concurrency';
import type { TokenHash } from '@gatehouse/contract';
import type { Queryable } from '@gatehouse/store';
import type { Logger } from 'pino';
import { notePreviousUse } from './queries.ts';

/** A secret that is in use is noted this often. */
const EVERY_MS = 10_000;
/** Secrets that were noted lately; more than this many are forgotten, and noted again. */
const MAX_NOTED = 10_000;

/** Notes when secrets from before a rotation were used last, so that a member sees when nobody uses one any more. */
export class PreviousUse {
  readonly #database: Queryable;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #log: Pick<Logger, 'warn'>;
  readonly #notedAtMs = new Map<string, number>();

  constructor(database: Queryable, clock: Pick<Clock, 'monotonicMs'>, log: Pick<Logger, 'warn'>) {
    this.#database = database;
    this.#clock = clock;
    this.#log = log;
  }

  /** Notes it beside the request, which does not wait. While the database is unavailable, nothing is. */
  note(secretHashes: readonly TokenHash[]): void {
    const now = this.#clock.monotonicMs();
    const due = secretHashes.filter(
      (hash) => now - (this.#notedAtMs.get(hash.toString('latin1')) ?? -EVERY_MS) >= EVERY_MS,
    );
    if (due.length === 0) return;
    if (this.#notedAtMs.size + due.length > MAX_NOTED) this.#notedAtMs.clear();
    for (const hash of due) this.#notedAtMs.set(hash.toString('latin1'), now);
    this.#database.run(notePreviousUse, { secretHashes: due }).catch((error: unknown) => {
      this.#log.warn({ event: 'key.use_not_noted', err: error }, 'last use of a previous secret not noted');
    });
  }
}
