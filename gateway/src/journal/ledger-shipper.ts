import type { Database } from '@gatehouse/store';
import type { Logger } from 'pino';
import type { Backlog } from './backlog.ts';
import { writeDeadLetter } from './dead-letter.ts';
import type { JournalClock } from './journal.ts';
import { type Next, pause, waitForWake } from './loop.ts';
import type { Outage } from './outage.ts';
import type { Span } from './record-line.ts';
import { type Segment, SegmentGone } from './segment.ts';
import { type SettledSegment, type Settlement, settle, settlementOf } from './settle.ts';

/**
 * Settles records in PostgreSQL. The ledger counts a request once by its id, so it needs no fixed batches: the shipper
 * reads the segments from where it stopped, the open one included, and never waits for a seal. So an outage of
 * telemetry, during which segments grow large, does not delay settlements. Its position is kept in memory within a
 * segment and in the name of a sealed one; after a crash some settlements are repeated, without effect.
 *
 * No settlement is given up. One that PostgreSQL rejects for its content, and not for the state of the server, is kept
 * and retried without end while the others go on. One that arrives after its week was closed is neither counted nor
 * dropped: it becomes a dead letter, with an error in the log, for a person to judge.
 */
export interface LedgerShipperOptions {
  readonly root: string;
  readonly backlog: Backlog;
  readonly database: Database;
  readonly outage: Outage;
  readonly clock: JournalClock;
  readonly log: Logger;
  readonly intervalMs: number;
  readonly rejectedRetryMs: number;
}

const MAX_PER_TRANSACTION = 1_000;
const READ_BYTES = 1024 * 1024;
const NAMED_IN_LOG = 10;

interface Part {
  readonly segment: Segment;
  readonly span: Span;
  /** When it was read, in ms since the epoch. */
  readonly readAtMs: number;
}

interface Item {
  readonly segment: Segment;
  readonly settlement: Settlement;
  /** The end of its line in the segment. */
  readonly end: number;
}

interface Rejection extends Item {
  readonly error: unknown;
}

interface Uncounted {
  /** Rejected by PostgreSQL for their content. */
  readonly rejected: Rejection[];
  /** Too late to tell whether they were counted before. */
  readonly late: Item[];
}

export class LedgerShipper {
  readonly #options: LedgerShipperOptions;
  #retryRejectedAtMs = 0;
  #isBehind = false;

  constructor(options: LedgerShipperOptions) {
    this.#options = options;
  }

  /** True if the ledger lacks records that it should have by now. */
  get isBehind(): boolean {
    return this.#isBehind || this.#options.outage.isOngoing;
  }

  async step(): Promise<Next> {
    const { backlog, clock, intervalMs, rejectedRetryMs } = this.#options;
    const parts = await this.#gather();
    await this.#ship(parts);
    const rejected = backlog.all().flatMap(rejectedItems);
    if (rejected.length > 0 && clock.monotonicMs() >= this.#retryRejectedAtMs) {
      this.#retryRejectedAtMs = clock.monotonicMs() + rejectedRetryMs;
      await this.#retryRejected(rejected);
    }
    this.#isBehind = countRecords(parts) >= MAX_PER_TRANSACTION;
    if (this.#isBehind) return pause(0);
    if (parts.length > 0) return pause(intervalMs);
    return rejected.length > 0 ? waitForWake(rejectedRetryMs) : waitForWake();
  }

  /** Reads about one transaction's worth of records, from the oldest segments on. */
  async #gather(): Promise<Part[]> {
    const { backlog, log } = this.#options;
    const parts: Part[] = [];
    for (const segment of backlog.pendingFor('ledger')) {
      const isRead = segment.ledgerOffset === segment.length;
      if (isRead && (segment.isOpen || segment.rejectedSettlements.length > 0)) continue;
      const readAtMs = Date.now();
      try {
        const span = isRead ? NOTHING : await segment.read(segment.ledgerOffset, READ_BYTES);
        parts.push({ segment, span, readAtMs });
      } catch (error) {
        if (!(error instanceof SegmentGone)) throw error;
        log.error(
          { event: 'journal.segment_lost', sink: 'ledger', err: error },
          'journal segment disappeared before it was shipped',
        );
        segment.forget();
      }
      if (countRecords(parts) >= MAX_PER_TRANSACTION) break;
    }
    return parts;
  }

  async #ship(parts: readonly Part[]): Promise<void> {
    const items = parts.flatMap(({ segment, span }) =>
      span.requests.flatMap((request, index) => {
        const settlement = settlementOf(request);
        const end = segment.ledgerOffset + (span.ends[index] as number);
        return settlement ? [{ segment, settlement, end }] : [];
      }),
    );
    // A segment of which a settlement is kept for a retry is not counted up to here.
    const settled = parts
      .filter(({ segment }) => segment.rejectedSettlements.length === 0)
      .map(({ segment, span }) => ({
        origin: segment.origin,
        sequence: segment.sequence,
        settledBytes: segment.ledgerOffset + span.wholeBytes,
      }));
    const { rejected, late } =
      items.length > 0 ? await this.#settle(items, settled) : { rejected: [], late: [] };
    this.#keep(rejected);
    await this.#writeLate(late);
    for (const part of parts) await this.#advance(part);
  }

  #keep(rejected: readonly Rejection[]): void {
    const [first] = rejected;
    if (!first) return;
    const { clock, log, rejectedRetryMs } = this.#options;
    this.#retryRejectedAtMs = clock.monotonicMs() + rejectedRetryMs;
    for (const { segment, settlement, end } of rejected)
      segment.rejectedSettlements.push({ settlement, end });
    log.error(
      {
        event: 'journal.settlements_rejected',
        err: first.error,
        settlements: rejected.length,
        requestIds: rejected.slice(0, NAMED_IN_LOG).map(({ settlement }) => settlement.requestId),
      },
      'ledger rejected settlements for their content; keeping and retrying them',
    );
  }

  async #advance({ segment, span, readAtMs }: Part): Promise<void> {
    const { root, log } = this.#options;
    if (span.damaged.length > 0) {
      const name = `${segment.origin}.${segment.sequence}.${segment.ledgerOffset}.damaged`;
      const path = await writeDeadLetter(root, name, span.damaged);
      log.error(
        { event: 'journal.lines_damaged', path, lines: span.damaged.length },
        'damaged lines in a journal segment; wrote them to a dead letter, their requests are not settled',
      );
    }
    segment.ledgerOffset += span.wholeBytes;
    segment.ledgerRecords += span.requests.length;
    // What it lacks now was appended after that, unless more was there than is read at once.
    if (span.wholeBytes < READ_BYTES) segment.ledgerSinceMs = readAtMs;
    await this.#acknowledgeIfComplete(segment);
  }

  async #acknowledgeIfComplete(segment: Segment): Promise<void> {
    const isComplete = segment.ledgerOffset === segment.length && segment.rejectedSettlements.length === 0;
    if (isComplete && !segment.isOpen) await segment.acknowledge('ledger');
  }

  /** Settles what it can and returns what was not counted. Throws when the ledger cannot be used. */
  async #settle(items: readonly Item[], settled: readonly SettledSegment[]): Promise<Uncounted> {
    const { database, outage } = this.#options;
    const uncounted: Uncounted = { rejected: [], late: [] };
    try {
      const late = new Set(
        await settle(
          database,
          items.map(({ settlement }) => settlement),
          {
            places: items.map(({ segment: { origin, sequence }, end }) => ({ origin, sequence, end })),
            settled,
          },
        ),
      );
      uncounted.late.push(...items.filter(({ settlement }) => late.has(settlement)));
    } catch (error) {
      if (!isContentError(error)) throw error;
      if (items.length === 1) return { rejected: items.map((item) => ({ ...item, error })), late: [] };
      for (const item of items) {
        const { rejected, late } = await this.#settle([item], []);
        uncounted.rejected.push(...rejected);
        uncounted.late.push(...late);
      }
    }
    outage.succeeded();
    return uncounted;
  }

  /** Before their segment counts as read, so that a crash repeats this and loses none of them. */
  async #writeLate(late: readonly Item[]): Promise<void> {
    const { root, log } = this.#options;
    for (const [{ origin, sequence }, items] of Map.groupBy(late, (item) => item.segment)) {
      const settlements = items.map(({ settlement }) => settlement);
      const name = `${origin}.${sequence}.${settlements[0]?.requestId}.late`;
      const path = await writeDeadLetter(root, name, settlements.map(lineOf));
      log.error(
        {
          event: 'journal.settlements_late',
          path,
          settlements: settlements.length,
          requestIds: settlements.slice(0, NAMED_IN_LOG).map(({ requestId }) => requestId),
        },
        'settlements arrived after their week was closed; wrote them to a dead letter, they are not counted',
      );
    }
  }

  async #retryRejected(items: readonly Item[]): Promise<void> {
    const uncounted = await this.#settle(items, []);
    const rejected = new Set(uncounted.rejected.map(({ settlement }) => settlement));
    await this.#writeLate(uncounted.late);
    const settled = items.length - rejected.size - uncounted.late.length;
    if (settled > 0)
      this.#options.log.info(
        { event: 'journal.settlements_accepted', settlements: settled },
        'ledger accepted settlements that it had rejected',
      );
    for (const segment of new Set(items.map((item) => item.segment))) {
      const left = segment.rejectedSettlements.filter(({ settlement }) => rejected.has(settlement));
      segment.rejectedSettlements.splice(0, Number.POSITIVE_INFINITY, ...left);
      await this.#acknowledgeIfComplete(segment);
    }
  }
}

const NOTHING: Span = { requests: [], ends: [], damaged: [], intactBytes: 0, wholeBytes: 0 };

function countRecords(parts: readonly Part[]): number {
  return parts.reduce((sum, { span }) => sum + span.requests.length, 0);
}

function rejectedItems(segment: Segment): Item[] {
  return segment.rejectedSettlements.map((kept) => ({ segment, ...kept }));
}

function lineOf({ requestId, organizationId, keyId, costMicroPkr }: Settlement): string {
  return JSON.stringify({ requestId, organizationId, keyId, costMicroPkr: String(costMicroPkr) });
}

// SQLSTATE classes 22 (data exception) and 23 (constraint violation) are about the rows, all others about the server.
function isContentError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^2[23][0-9A-Z]{3}$/.test(String(error.code));
}
