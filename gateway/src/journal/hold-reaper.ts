import type { Database } from '@gatehouse/store';
import type { Logger } from 'pino';
import { type Next, pause } from './loop.ts';
import { isReachable } from './queries.ts';
import { releaseOverdueHolds, settleOverdueHolds } from './settle.ts';

/**
 * Releases holds past their deadline: their gateway died before it recorded how the request ended. A record that arrives
 * later still counts its cost once; it only finds no hold to release. A hold that was lowered to what its request cost
 * is settled instead of released: that much is spent, whatever became of the record.
 *
 * After an outage of PostgreSQL every node has records whose holds expired meanwhile. To release those first would for
 * a moment free credit that is in fact spent. So a reaper acts only while its own node's ledger is not behind and only
 * if PostgreSQL already answered one interval ago, which gives every node the time to settle first.
 */
export interface HoldReaperOptions {
  readonly database: Database;
  readonly isLedgerBehind: () => boolean;
  readonly log: Logger;
  readonly intervalMs: number;
}

const MAX_PER_TRANSACTION = 500;
const NAMED_IN_LOG = 10;

export class HoldReaper {
  readonly #options: HoldReaperOptions;
  #answeredBefore = false;
  #released = 0;

  constructor(options: HoldReaperOptions) {
    this.#options = options;
  }

  get released(): number {
    return this.#released;
  }

  async step(): Promise<Next> {
    const { isLedgerBehind, database, intervalMs } = this.#options;
    const mayReap = this.#answeredBefore && !isLedgerBehind();
    this.#answeredBefore = false;
    await (mayReap ? this.#reap() : database.one(isReachable));
    this.#answeredBefore = !isLedgerBehind();
    return pause(intervalMs);
  }

  async #reap(): Promise<void> {
    await this.#release();
    await this.#settle();
  }

  async #release(): Promise<void> {
    const { database, log } = this.#options;
    let holds = 0;
    let amountMicroPkr = 0n;
    let last: number;
    do {
      const released = await releaseOverdueHolds(database, MAX_PER_TRANSACTION);
      last = released.holds;
      holds += last;
      amountMicroPkr += released.amountMicroPkr;
    } while (last === MAX_PER_TRANSACTION);
    this.#released += holds;
    if (holds === 0) return;
    log.warn(
      { event: 'journal.holds_released', holds, amountMicroPkr: String(amountMicroPkr) },
      'released expired holds of requests that were never recorded',
    );
  }

  async #settle(): Promise<void> {
    const { database, log } = this.#options;
    let last: number;
    do {
      const { overdue, late } = await settleOverdueHolds(database, MAX_PER_TRANSACTION);
      last = overdue.length;
      if (last > 0)
        log.warn(
          { event: 'journal.expired_holds_settled', requests: last },
          'settled finished requests whose gateway had not settled them by the deadline',
        );
      if (late.length > 0)
        log.error(
          {
            event: 'journal.expired_holds_late',
            requestIds: late.slice(0, NAMED_IN_LOG).map(({ requestId }) => requestId),
            settlements: late.length,
          },
          'found unsettled requests whose week was already closed; they are not counted',
        );
    } while (last === MAX_PER_TRANSACTION);
  }
}
