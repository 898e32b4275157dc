import type { Database } from '@gatehouse/store';
import type { Logger } from 'pino';
import type { FinishedRequest } from './finished-request.ts';
import type { Processes } from './process-mark.ts';
import type { Timing } from './timing.ts';

/**
 * The durable record of finished requests.
 *
 * When a request ends, what it cost and how it went becomes one line in a file of this process, and only then has
 * it ended. From there it goes two ways that know nothing of each other: to the ledger in PostgreSQL, which settles
 * the cost and releases the hold, and to the telemetry store, for analytics. Either may be away for hours; the
 * file waits. Either may be told the same thing twice, because a process may die between the telling and noting
 * that it was told; both recognise the repeat, the ledger by the request's id and telemetry by the segment's token.
 * So each request arrives at both exactly once, whatever is killed and whenever.
 *
 * What a killed process leaves behind is shipped by the next one to look (orphan-adopter.ts). The files are
 * described in segment.ts and instance-directory.ts, and the holds of requests that never ended in hold-reaper.ts.
 */
export interface Journal {
  /**
   * Resolves once the record is in the file of this process, where killing the process cannot undo it. Rejects
   * when it could not be written (a full disk), and then it will not be shipped; the next append may work again.
   */
  append(request: FinishedRequest): Promise<void>;
  /** False while the disk is nearly full: then no new request should be begun. */
  readonly hasRoom: boolean;
}

export interface OpenJournal extends Journal, AsyncDisposable {
  /** Resolves when both stores have all that was appended before; rejects when that takes longer than the limit. */
  flush(): Promise<void>;
  stats(): JournalStats;
}

export interface JournalStats {
  readonly appended: number;
  readonly appendFailures: number;
  /** Appended or adopted records that a store does not have yet. */
  readonly ledgerBacklog: number;
  readonly telemetryBacklog: number;
  /** Files of records, and their bytes, that are still needed. */
  readonly segments: number;
  readonly bytes: number;
  readonly isLedgerFailing: boolean;
  readonly isTelemetryFailing: boolean;
  /** Records that telemetry refused for what they say; they are in `rejected/`. */
  readonly setAside: number;
  readonly holdsReleased: number;
}

export interface JournalOptions {
  /** Shared by all processes of this node; each makes a directory of its own in it. */
  readonly directory: string;
  readonly database: Database;
  /** Stores rows in telemetry; the same token with the same rows again must change nothing. */
  readonly shipTelemetry: (rows: FinishedRequest[], token: string) => Promise<void>;
  /**
   * The request ids among the rows that telemetry has. Asked before a batch is repeated, because a store remembers
   * tokens for a limited time only; without it, repeats rely on the token alone.
   */
  readonly findInTelemetry?: (rows: FinishedRequest[]) => Promise<ReadonlySet<string>>;
  readonly log: Logger;
  /** Tells a row that telemetry will never take from a store that cannot be used right now. */
  readonly isTelemetryRefusal?: (error: unknown) => boolean;
  readonly ledgerIntervalMs?: number;
  readonly telemetryIntervalMs?: number;
  readonly telemetryTimeoutMs?: number;
  readonly firstRetryMs?: number;
  readonly lastRetryMs?: number;
  readonly refusedRetryMs?: number;
  readonly reapIntervalMs?: number;
  readonly adoptIntervalMs?: number;
  readonly heartbeatMs?: number;
  /** How long an owner that cannot be looked up must show no sign of life before it counts as dead. */
  readonly leaseMs?: number;
  readonly flushTimeoutMs?: number;
  /** How much of the disk must be free for new requests; not looked at unless given. */
  readonly minFreeBytes?: number;
  readonly diskIntervalMs?: number;
  /** What is free on the disk; asked of the file system unless given. */
  readonly freeBytes?: (directory: string) => Promise<number>;
  readonly maxSegmentRecords?: number;
  readonly maxSegmentBytes?: number;
  readonly timing?: Timing;
  readonly processes?: Processes;
  readonly newId?: () => string;
}
