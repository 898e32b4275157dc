import { createHash } from 'node:crypto';
import { withTimeout } from '@gatehouse/concurrency';
import type { Logger } from 'pino';
import type { Backlog } from './backlog.ts';
import { writeDeadLetter } from './dead-letter.ts';
import type { FinishedRequest } from './finished-request.ts';
import type { JournalClock } from './journal.ts';
import { type Next, pause, waitForWake } from './loop.ts';
import type { Outage } from './outage.ts';
import { encodeLine } from './record-line.ts';
import { type Segment, SegmentGone } from './segment.ts';

/**
 * Ships records to the telemetry store, one sealed segment at a time. A sealed segment never changes and its token names
 * exactly its content, so a retry after any crash sends the same rows under the same token, and the store drops what it
 * already has. But a store remembers a limited number of tokens. Where other nodes may have filled its memory since the
 * first attempt (a process died, an answer was lost), the shipper first asks which rows the store has. The open segment
 * is sealed only when this shipper has nothing else to do: while the store is unavailable segments grow large instead of
 * many, and catching up takes few inserts.
 *
 * Rows that the store rejects for their content would block everything behind them for ever. So a rejected segment is
 * halved until the offending rows are found, and these become dead letters. But not while the store accepts no rows at
 * all, as with a table that lacks a column: it must have accepted others since.
 */
export interface TelemetryShipperOptions {
  readonly root: string;
  readonly backlog: Backlog;
  /** Seals the open segment, where it holds anything. */
  readonly seal: () => Promise<Segment | undefined>;
  readonly shipTelemetry: (rows: FinishedRequest[], token: string) => Promise<void>;
  readonly findInTelemetry: ((rows: FinishedRequest[]) => Promise<ReadonlySet<string>>) | undefined;
  /** True if the store would reject the rows at any other time too, because of their content. */
  readonly isRowRejection: (error: unknown) => boolean;
  readonly outage: Outage;
  readonly clock: JournalClock;
  readonly log: Logger;
  readonly intervalMs: number;
  readonly attemptTimeoutMs: number;
}

// Halving the largest segment down to one row takes 15 inserts. A store that has accepted nothing after twice as many
// does not reject single rows.
const MAX_INSERTS_WITHOUT_SUCCESS = 32;

interface InsertResult {
  readonly accepted: number;
  readonly rejected: FinishedRequest[];
  readonly reason: unknown;
}

export class TelemetryShipper {
  readonly #options: TelemetryShipperOptions;
  /** Segments that were rejected as a whole, with the number of rows that the store had accepted by then. */
  readonly #rejected = new Map<Segment, number>();
  #accepted = 0;
  #deadLetters = 0;

  constructor(options: TelemetryShipperOptions) {
    this.#options = options;
  }

  /** Records that became dead letters because the store rejects them. */
  get deadLetters(): number {
    return this.#deadLetters;
  }

  async step(): Promise<Next> {
    const { backlog, outage, log, intervalMs } = this.#options;
    const segment = await this.#choose();
    if (!segment) return waitForWake();
    try {
      const result = await this.#insertSegment(segment);
      if (result.accepted === 0 && result.rejected.length > 0 && !this.#isProven(segment)) {
        this.#rejected.set(segment, this.#accepted);
        return pause(outage.failed(result.reason));
      }
      outage.succeeded();
      if (result.rejected.length > 0) await this.#writeDeadLetter(segment, result);
    } catch (error) {
      if (!(error instanceof SegmentGone)) throw error;
      log.error(
        { event: 'journal.segment_lost', sink: 'telemetry', err: error },
        'journal segment disappeared before it was shipped',
      );
      segment.forget();
    }
    await segment.acknowledge('telemetry');
    this.#rejected.delete(segment);
    const hasMore = backlog.pendingFor('telemetry').some((other) => !other.isOpen);
    return pause(hasMore ? 0 : intervalMs);
  }

  /** A rejected segment that a working store should be sent again; else the oldest not rejected; else any rejected. */
  async #choose(): Promise<Segment | undefined> {
    const suspect = this.#rejected.keys().find((segment) => this.#isProven(segment));
    if (suspect) return suspect;
    const isFresh = (segment: Segment) => !segment.isOpen && !this.#rejected.has(segment);
    const fresh = this.#options.backlog.pendingFor('telemetry').find(isFresh) ?? (await this.#options.seal());
    return fresh ?? this.#rejected.keys().next().value;
  }

  /** True if the store has rejected the segment once and accepted other rows since. */
  #isProven(segment: Segment): boolean {
    const acceptedThen = this.#rejected.get(segment);
    return acceptedThen !== undefined && this.#accepted > acceptedThen;
  }

  async #insertSegment(segment: Segment): Promise<InsertResult> {
    const { requests, token: wholeToken } = await this.#missing(segment);
    segment.wasSent = true;
    const rejected: FinishedRequest[] = [];
    let reason: unknown;
    let accepted = 0;
    let inserts = 0;
    // Which parts are sent, and so their tokens, depends only on the segment and the store's answers.
    const parts = requests.length > 0 ? [{ from: 0, to: requests.length, token: wholeToken }] : [];
    for (let part = parts.pop(); part; part = parts.pop()) {
      const { from, to, token } = part;
      const rows = requests.slice(from, to);
      inserts += 1;
      try {
        await this.#insert(rows, token);
        accepted += rows.length;
      } catch (error) {
        if (!this.#options.isRowRejection(error)) throw error;
        reason = error;
        if (accepted === 0 && inserts === MAX_INSERTS_WITHOUT_SUCCESS) break;
        if (rows.length === 1) rejected.push(...rows);
        else parts.push(...halves(wholeToken, from, to));
      }
    }
    this.#accepted += accepted;
    return accepted === 0 && reason
      ? { accepted, rejected: [...requests], reason }
      : { accepted, rejected, reason };
  }

  /** The records of a segment that telemetry does not have, as far as can be known, and the token for just these. */
  async #missing(segment: Segment): Promise<{ requests: readonly FinishedRequest[]; token: string }> {
    const { requests } = await segment.read(0);
    const { findInTelemetry } = this.#options;
    const whole = { requests, token: segment.token };
    if (!segment.wasSent || !findInTelemetry) return whole;
    const found = await findInTelemetry([...requests]);
    if (found.size === 0) return whole;
    const rest = requests.filter(({ requestId }) => !found.has(requestId));
    const digest = createHash('sha256').update(rest.map(({ requestId }) => requestId).join());
    return { requests: rest, token: `${segment.token}.rest-${digest.digest('hex').slice(0, 32)}` };
  }

  #insert(rows: FinishedRequest[], token: string): Promise<void> {
    const { shipTelemetry, clock, attemptTimeoutMs } = this.#options;
    const timedOut = () => new Error(`telemetry did not answer within ${attemptTimeoutMs} ms`);
    return withTimeout(shipTelemetry(rows, token), attemptTimeoutMs, timedOut, clock);
  }

  async #writeDeadLetter(segment: Segment, { rejected, reason }: InsertResult): Promise<void> {
    const { root, log } = this.#options;
    const name = `${segment.origin}.${segment.sequence}.telemetry`;
    const path = await writeDeadLetter(root, name, rejected.map(encodeLine));
    this.#deadLetters += rejected.length;
    log.error(
      { event: 'journal.rows_rejected', err: reason, path, records: rejected.length },
      'telemetry rejected records for their content; wrote them to a dead letter, analytics will lack them',
    );
  }
}

// The left half is sent first, so it comes last.
function halves(token: string, from: number, to: number): { from: number; to: number; token: string }[] {
  const middle = Math.floor((from + to) / 2);
  return [
    { from: middle, to, token: `${token}.${middle}-${to}` },
    { from, to: middle, token: `${token}.${from}-${middle}` },
  ];
}
