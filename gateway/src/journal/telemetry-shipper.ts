import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import type { Backlog } from './backlog.ts';
import type { FinishedRequest } from './finished-request.ts';
import { type Next, pause, waitForNews } from './loop.ts';
import type { Outage } from './outage.ts';
import { encodeLine } from './record-line.ts';
import { setAside } from './rejected.ts';
import { type Segment, SegmentGone } from './segment.ts';
import type { Timing } from './timing.ts';

/**
 * Ships records to the telemetry store, one sealed segment at a time. A sealed segment never changes and its token
 * names exactly its content, so a retry after any crash offers the same rows under the same token and the store
 * drops what it has already. But a store remembers a limited number of tokens. Where the
 * other nodes may have filled its memory since the first offer (a process died, an answer was lost), it is asked
 * first which rows it has. The open segment is sealed only when this shipper has nothing else to do: while the
 * store is away segments grow large instead of many, and catching up takes few inserts.
 *
 * A store that refuses rows for what they say would stop everything behind them for ever. So a refused segment is
 * halved until the rows at fault are found, and these are set aside. Nothing is set aside on the word of a store
 * that takes no rows at all (a table that lacks a column refuses everything): it must have accepted others since.
 */
export interface TelemetryShipperOptions {
  readonly root: string;
  readonly backlog: Backlog;
  /** Seals the open segment, where it holds anything. */
  readonly seal: () => Promise<Segment | undefined>;
  readonly shipTelemetry: (rows: FinishedRequest[], token: string) => Promise<void>;
  readonly findInTelemetry: ((rows: FinishedRequest[]) => Promise<ReadonlySet<string>>) | undefined;
  /** Whether the store refused the rows for what they say, and would at any other time. */
  readonly isRefusal: (error: unknown) => boolean;
  readonly outage: Outage;
  readonly timing: Timing;
  readonly log: Logger;
  readonly intervalMs: number;
  readonly attemptTimeoutMs: number;
}

// Halving the largest segment down to one row takes 15 offers. A store that has taken nothing by then, and by as
// much again, is not complaining about single rows.
const MAX_OFFERS_WITHOUT_SUCCESS = 32;

interface Verdict {
  readonly accepted: number;
  readonly refused: FinishedRequest[];
  readonly reason: unknown;
}

export class TelemetryShipper {
  readonly #options: TelemetryShipperOptions;
  /** Segments that were refused whole, with the number of rows the store had accepted by then. */
  readonly #refused = new Map<Segment, number>();
  #accepted = 0;
  #setAside = 0;

  constructor(options: TelemetryShipperOptions) {
    this.#options = options;
  }

  /** Records that were set aside because the store refuses them. */
  get setAsideRecords(): number {
    return this.#setAside;
  }

  async step(): Promise<Next> {
    const { backlog, outage, log, intervalMs } = this.#options;
    const segment = await this.#choose();
    if (!segment) return waitForNews();
    try {
      const verdict = await this.#offerSegment(segment);
      if (verdict.accepted === 0 && verdict.refused.length > 0 && !this.#isProven(segment)) {
        this.#refused.set(segment, this.#accepted);
        return pause(outage.failed(verdict.reason));
      }
      outage.recovered();
      if (verdict.refused.length > 0) await this.#reject(segment, verdict);
    } catch (error) {
      if (!(error instanceof SegmentGone)) throw error;
      log.error({ err: error }, 'a journal segment is gone before telemetry had it');
      segment.forget();
    }
    await segment.paid('telemetry');
    this.#refused.delete(segment);
    const hasMore = backlog.owing('telemetry').some((other) => !other.isOpen);
    return pause(hasMore ? 0 : intervalMs);
  }

  /** A refused segment that a healthy store should judge again; else the oldest not refused; else any refused. */
  async #choose(): Promise<Segment | undefined> {
    const suspect = this.#refused.keys().find((segment) => this.#isProven(segment));
    if (suspect) return suspect;
    const isFresh = (segment: Segment) => !segment.isOpen && !this.#refused.has(segment);
    const fresh = this.#options.backlog.owing('telemetry').find(isFresh) ?? (await this.#options.seal());
    return fresh ?? this.#refused.keys().next().value;
  }

  /** Whether the store has refused the segment once and taken other rows since. */
  #isProven(segment: Segment): boolean {
    const acceptedThen = this.#refused.get(segment);
    return acceptedThen !== undefined && this.#accepted > acceptedThen;
  }

  async #offerSegment(segment: Segment): Promise<Verdict> {
    const { requests, token: wholeToken } = await this.#missing(segment);
    segment.wasOffered = true;
    const refused: FinishedRequest[] = [];
    let reason: unknown;
    let accepted = 0;
    let offers = 0;
    // Which parts are offered, and so their tokens, depends on nothing but the segment and the store's answers.
    const parts = requests.length > 0 ? [{ from: 0, to: requests.length, token: wholeToken }] : [];
    for (let part = parts.pop(); part; part = parts.pop()) {
      const { from, to, token } = part;
      const rows = requests.slice(from, to);
      offers += 1;
      try {
        await this.#offer(rows, token);
        accepted += rows.length;
      } catch (error) {
        if (!this.#options.isRefusal(error)) throw error;
        reason = error;
        if (accepted === 0 && offers === MAX_OFFERS_WITHOUT_SUCCESS) break;
        if (rows.length === 1) refused.push(...rows);
        else parts.push(...halves(wholeToken, from, to));
      }
    }
    this.#accepted += accepted;
    return accepted === 0 && reason
      ? { accepted, refused: [...requests], reason }
      : { accepted, refused, reason };
  }

  /** What of a segment telemetry does not have, as far as can be known, and the token for just that. */
  async #missing(segment: Segment): Promise<{ requests: readonly FinishedRequest[]; token: string }> {
    const { requests } = await segment.read(0);
    const { findInTelemetry } = this.#options;
    const whole = { requests, token: segment.token };
    if (!segment.wasOffered || !findInTelemetry) return whole;
    const found = await findInTelemetry([...requests]);
    if (found.size === 0) return whole;
    const rest = requests.filter(({ requestId }) => !found.has(requestId));
    const digest = createHash('sha256').update(rest.map(({ requestId }) => requestId).join());
    return { requests: rest, token: `${segment.token}.rest-${digest.digest('hex').slice(0, 32)}` };
  }

  async #offer(rows: FinishedRequest[], token: string): Promise<void> {
    const { shipTelemetry, timing, attemptTimeoutMs } = this.#options;
    const attempt = new AbortController();
    const timeout = timing.sleep(attemptTimeoutMs, attempt.signal).then(() => {
      if (!attempt.signal.aborted) throw new Error(`telemetry did not answer within ${attemptTimeoutMs} ms`);
    });
    try {
      await Promise.race([shipTelemetry(rows, token), timeout]);
    } finally {
      attempt.abort();
    }
  }

  async #reject(segment: Segment, { refused, reason }: Verdict): Promise<void> {
    const { root, log } = this.#options;
    const name = `${segment.origin}.${segment.sequence}.telemetry`;
    const path = await setAside(root, name, refused.map(encodeLine));
    this.#setAside += refused.length;
    log.error(
      { err: reason, path, records: refused.length },
      'telemetry refuses records for what they say; they were set aside and will be missing from analytics',
    );
  }
}

// The left half is offered first, so it comes last.
function halves(token: string, from: number, to: number): { from: number; to: number; token: string }[] {
  const middle = Math.floor((from + to) / 2);
  return [
    { from: middle, to, token: `${token}.${middle}-${to}` },
    { from, to: middle, token: `${token}.${from}-${middle}` },
  ];
}
