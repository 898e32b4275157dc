import type { Database } from '@gatehouse/store';
import type { Logger } from 'pino';
import type { Backlog } from './backlog.ts';
import { type Next, pause, waitForNews } from './loop.ts';
import type { Outage } from './outage.ts';
import type { Span } from './record-line.ts';
import { setAside } from './rejected.ts';
import { type Segment, SegmentGone } from './segment.ts';
import { type Settlement, settle, settlementOf } from './settle.ts';
import type { Timing } from './timing.ts';

/**
 * Settles records in PostgreSQL. The ledger counts a request once by its id, so it needs no fixed batches: it
 * reads on in the segments from where it stopped, the open one included, and never waits for a seal. That is what
 * keeps an outage of telemetry, during which segments grow large, from delaying the money. How far it came is kept
 * in memory within a segment and in the name of a sealed one; after a crash some of it is repeated, to no effect.
 *
 * Money is never given up. A settlement that PostgreSQL refuses for what it says (and not because of how the
 * server feels) is put by, so that the others go on, and is tried again for as long as it takes. One that comes so
 * late that its week is closed is neither counted nor dropped: it is set aside, loudly, for a person to judge.
 */
export interface LedgerShipperOptions {
  readonly root: string;
  readonly backlog: Backlog;
  readonly database: Database;
  readonly outage: Outage;
  readonly timing: Timing;
  readonly log: Logger;
  readonly intervalMs: number;
  readonly refusedRetryMs: number;
}

const MAX_PER_TRANSACTION = 1_000;
const READ_BYTES = 1024 * 1024;
const NAMED_IN_LOG = 10;

interface Part {
  readonly segment: Segment;
  readonly span: Span;
}

interface Item {
  readonly segment: Segment;
  readonly settlement: Settlement;
}

interface Refusal extends Item {
  readonly error: unknown;
}

interface Uncounted {
  /** Impossible for now. */
  readonly refused: Refusal[];
  /** Too late to tell whether they were counted before. */
  readonly late: Item[];
}

export class LedgerShipper {
  readonly #options: LedgerShipperOptions;
  #retryRefusedAtMs = 0;
  #isBehind = false;

  constructor(options: LedgerShipperOptions) {
    this.#options = options;
  }

  /** Whether records are known to wait for the ledger longer than they should. */
  get isBehind(): boolean {
    return this.#isBehind || this.#options.outage.isOngoing;
  }

  async step(): Promise<Next> {
    const { backlog, timing, intervalMs, refusedRetryMs } = this.#options;
    const parts = await this.#gather();
    await this.#ship(parts);
    const refused = backlog.all().flatMap(itemsRefused);
    if (refused.length > 0 && timing.now() >= this.#retryRefusedAtMs) {
      this.#retryRefusedAtMs = timing.now() + refusedRetryMs;
      await this.#retryRefused(refused);
    }
    this.#isBehind = countRecords(parts) >= MAX_PER_TRANSACTION;
    if (this.#isBehind) return pause(0);
    if (parts.length > 0) return pause(intervalMs);
    return refused.length > 0 ? waitForNews(refusedRetryMs) : waitForNews();
  }

  /** Reads from the oldest segments on what makes about one transaction. */
  async #gather(): Promise<Part[]> {
    const { backlog, log } = this.#options;
    const parts: Part[] = [];
    for (const segment of backlog.owing('ledger')) {
      const isRead = segment.ledgerOffset === segment.length;
      if (isRead && (segment.isOpen || segment.refusedSettlements.length > 0)) continue;
      try {
        const span = isRead ? NOTHING : await segment.read(segment.ledgerOffset, READ_BYTES);
        parts.push({ segment, span });
      } catch (error) {
        if (!(error instanceof SegmentGone)) throw error;
        log.error({ err: error }, 'a journal segment is gone before the ledger had it');
        segment.forget();
      }
      if (countRecords(parts) >= MAX_PER_TRANSACTION) break;
    }
    return parts;
  }

  async #ship(parts: readonly Part[]): Promise<void> {
    const items = parts.flatMap(({ segment, span }) =>
      span.requests.flatMap((request) => {
        const settlement = settlementOf(request);
        return settlement ? [{ segment, settlement }] : [];
      }),
    );
    const refused: Refusal[] = [];
    const late: Item[] = [];
    for (let from = 0; from < items.length; from += MAX_PER_TRANSACTION) {
      const verdict = await this.#settle(items.slice(from, from + MAX_PER_TRANSACTION));
      refused.push(...verdict.refused);
      late.push(...verdict.late);
    }
    this.#keep(refused);
    await this.#setAside(late);
    for (const part of parts) await this.#advance(part);
  }

  #keep(refused: readonly Refusal[]): void {
    const [first] = refused;
    if (!first) return;
    const { timing, log, refusedRetryMs } = this.#options;
    this.#retryRefusedAtMs = timing.now() + refusedRetryMs;
    for (const { segment, settlement } of refused) segment.refusedSettlements.push(settlement);
    log.error(
      {
        err: first.error,
        settlements: refused.length,
        requestIds: refused.slice(0, NAMED_IN_LOG).map(({ settlement }) => settlement.requestId),
      },
      'the ledger refuses settlements for what they say; they are kept and tried again',
    );
  }

  async #advance({ segment, span }: Part): Promise<void> {
    const { root, log } = this.#options;
    if (span.damaged.length > 0) {
      const name = `${segment.origin}.${segment.sequence}.${segment.ledgerOffset}.damaged`;
      const path = await setAside(root, name, span.damaged);
      log.error(
        { path, lines: span.damaged.length },
        'lines of a journal segment are damaged, and the requests in them are not settled; they were set aside',
      );
    }
    segment.ledgerOffset += span.wholeBytes;
    segment.ledgerRecords += span.requests.length;
    await this.#payIfComplete(segment);
  }

  async #payIfComplete(segment: Segment): Promise<void> {
    const isComplete = segment.ledgerOffset === segment.length && segment.refusedSettlements.length === 0;
    if (isComplete && !segment.isOpen) await segment.paid('ledger');
  }

  /** Settles what it can and returns what was not counted. Throws when the ledger cannot be used. */
  async #settle(items: readonly Item[]): Promise<Uncounted> {
    const { database, outage } = this.#options;
    const uncounted: Uncounted = { refused: [], late: [] };
    try {
      const late = new Set(
        await settle(
          database,
          items.map(({ settlement }) => settlement),
        ),
      );
      uncounted.late.push(...items.filter(({ settlement }) => late.has(settlement)));
    } catch (error) {
      if (!isAboutContent(error)) throw error;
      if (items.length === 1) return { refused: items.map((item) => ({ ...item, error })), late: [] };
      for (const item of items) {
        const { refused, late } = await this.#settle([item]);
        uncounted.refused.push(...refused);
        uncounted.late.push(...late);
      }
    }
    outage.recovered();
    return uncounted;
  }

  /** Before their segment counts as read: a crash then repeats this, and not the loss of them. */
  async #setAside(late: readonly Item[]): Promise<void> {
    const { root, log } = this.#options;
    for (const [{ origin, sequence }, items] of Map.groupBy(late, (item) => item.segment)) {
      const settlements = items.map(({ settlement }) => settlement);
      const name = `${origin}.${sequence}.${settlements[0]?.requestId}.late`;
      const path = await setAside(root, name, settlements.map(lineOf));
      log.error(
        {
          path,
          settlements: settlements.length,
          requestIds: settlements.slice(0, NAMED_IN_LOG).map(({ requestId }) => requestId),
        },
        'requests came to the ledger months after they were made, and it cannot tell any more whether it has them; they were not counted but set aside',
      );
    }
  }

  async #retryRefused(items: readonly Item[]): Promise<void> {
    const verdict = await this.#settle(items);
    const refused = new Set(verdict.refused.map(({ settlement }) => settlement));
    await this.#setAside(verdict.late);
    const settled = items.length - refused.size - verdict.late.length;
    if (settled > 0)
      this.#options.log.info({ settlements: settled }, 'the ledger took settlements it had refused');
    for (const segment of new Set(items.map((item) => item.segment))) {
      const left = segment.refusedSettlements.filter((settlement) => refused.has(settlement));
      segment.refusedSettlements.splice(0, Number.POSITIVE_INFINITY, ...left);
      await this.#payIfComplete(segment);
    }
  }
}

const NOTHING: Span = { requests: [], damaged: [], intactBytes: 0, wholeBytes: 0 };

function countRecords(parts: readonly Part[]): number {
  return parts.reduce((sum, { span }) => sum + span.requests.length, 0);
}

function itemsRefused(segment: Segment): Item[] {
  return segment.refusedSettlements.map((settlement) => ({ segment, settlement }));
}

function lineOf({ requestId, organizationId, keyId, costMicroPkr }: Settlement): string {
  return JSON.stringify({ requestId, organizationId, keyId, costMicroPkr: String(costMicroPkr) });
}

// SQLSTATE classes 22 (a value that cannot be) and 23 (a constraint) speak of the rows; all else of the server.
function isAboutContent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^2[23][0-9A-Z]{3}$/.test(String(error.code));
}
