import type { Clock } from '@gatehouse/concurrency';
import type { Database } from '@gatehouse/store';
import type { Logger } from 'pino';
import type { Pending } from './backlog.ts';
import type { FinishedRequest } from './finished-request.ts';
import type { Processes } from './instance-directory.ts';
import type { Sink } from './segment.ts';

/**
 * The durable record of finished requests.
 *
 * When a request ends, its cost and its outcome become one line in a file of this process; only then has it ended. From
 * there the line goes to two sinks that are independent of each other: the ledger in PostgreSQL, which settles the cost
 * and releases the hold, and the telemetry store, for analytics. Either may be unavailable for hours; the file waits.
 * Either may get the same line twice, because a process may die after a sink has stored it and before the process has
 * noted so. Both recognise the repeat, the ledger by the request's id and telemetry by the segment's token. So each
 * request arrives at both exactly once, at whatever moment a process is killed.
 *
 * Segments of a killed process are recovered by another one (segment-recovery.ts). segment.ts and instance-directory.ts
 * describe the files, hold-reaper.ts the holds of requests that never ended.
 */
export interface Journal {
  /**
   * Resolves once the record is in the file of this process, where killing the process cannot undo it. Rejects when it
   * could not be written (a full disk); it is not shipped then, and the next append may work again.
   */
  append(request: FinishedRequest): Promise<void>;
  /** False while the disk is nearly full: then no new request should begin. */
  readonly hasRoom: boolean;
}

export interface OpenJournal extends Journal, AsyncDisposable {
  /** Resolves when both sinks have everything that was appended before. Rejects after the time limit. */
  flush(): Promise<void>;
  stats(): JournalStats;
}

export interface JournalStats {
  readonly appended: number;
  readonly appendFailures: number;
  /** Appended or recovered records that a sink does not have yet. */
  readonly ledgerBacklog: number;
  readonly telemetryBacklog: number;
  /** Files of records, and their bytes, that are still needed. */
  readonly segments: number;
  readonly bytes: number;
  readonly isLedgerFailing: boolean;
  readonly isTelemetryFailing: boolean;
  readonly sinks: Readonly<Record<Sink, SinkStats>>;
  /** Records that telemetry rejected for their content; they are in `rejected/`. */
  readonly deadLetters: number;
  /** Directories of dead processes, and segments in them, that this one cannot recover. */
  readonly unreadable: number;
  readonly holdsReleased: number;
}

export interface SinkStats extends Pending {
  readonly isFailing: boolean;
  /** Attempts that failed. */
  readonly failures: number;
}

export interface JournalOptions {
  /** Shared by all processes of this node; each makes a directory of its own in it. */
  readonly directory: string;
  readonly database: Database;
  /** Stores rows in telemetry. The same token with the same rows again must change nothing. */
  readonly shipTelemetry: (rows: FinishedRequest[], token: string) => Promise<void>;
  /**
   * The ids of those rows that telemetry has. Called before a batch is repeated, because a store remembers a limited
   * number of tokens. Without it, repeats rely on the token alone.
   */
  readonly findInTelemetry?: (rows: FinishedRequest[]) => Promise<ReadonlySet<string>>;
  readonly log: Logger;
  /** True if telemetry would reject the rows at any other time too, because of their content. */
  readonly isRowRejection?: (error: unknown) => boolean;
  readonly ledgerIntervalMs?: number;
  readonly telemetryIntervalMs?: number;
  readonly telemetryTimeoutMs?: number;
  readonly firstRetryMs?: number;
  readonly lastRetryMs?: number;
  readonly rejectedRetryMs?: number;
  readonly reapIntervalMs?: number;
  readonly recoveryIntervalMs?: number;
  readonly heartbeatMs?: number;
  /** How long an instance whose process cannot be looked up must show no sign of life before it counts as dead. */
  readonly leaseMs?: number;
  readonly flushTimeoutMs?: number;
  /** How much of the disk must be free for new requests; not checked unless given. */
  readonly minFreeBytes?: number;
  readonly diskIntervalMs?: number;
  /** The free bytes on the disk; asked of the file system unless given. */
  readonly freeBytes?: (directory: string) => Promise<number>;
  readonly maxSegmentRecords?: number;
  readonly maxSegmentBytes?: number;
  readonly clock?: JournalClock;
  /** At least 0 and below 1. */
  readonly random?: () => number;
  readonly processes?: Processes;
  readonly newId?: () => string;
}

export type JournalClock = Pick<Clock, 'monotonicMs' | 'sleep'>;
