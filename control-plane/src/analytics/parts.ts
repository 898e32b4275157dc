import type { FairScheduler } from '@gatehouse/concurrency';
import type { Database, TelemetryClient } from '@gatehouse/store';
import type { Logger } from 'pino';
import type { DatabaseFor } from '../scheduling.ts';
import type { Density } from './figures/density.ts';

/** What the endpoints of this section work with. */
export interface AnalyticsParts {
  /** For exports, of which an organisation has only a few at a time. */
  readonly database: Database;
  /** For what is asked before and after the questions, which take their time without a permit. */
  readonly databaseFor: DatabaseFor;
  readonly telemetry: TelemetryClient;
  readonly log: Logger;
  /** How long the questions of one request may take together, in ms. */
  readonly timeoutMs: number;
  /** The end of every window, in microseconds since the epoch. */
  readonly nowMicros: () => bigint;
  /** Turns at the telemetry store. */
  readonly questions: FairScheduler;
  /** Turns at answers that are written page by page. A slow reader of one kind does not hold up the other. */
  readonly longSeries: FairScheduler;
  readonly exports: FairScheduler;
  readonly pages: PageSizes;
  /** Before each further time that a page of an answer that has begun is asked for, where the store gave none. */
  readonly pausesMs: readonly number[];
  readonly density: Density;
}

/** How much of a long answer is asked for, and held in memory, at a time. */
export interface PageSizes {
  /** Points of a series. */
  readonly points: number;
  /** Rows of the request log, and how many bytes of them at most: of large ones fewer. */
  readonly rows: number;
  readonly bytes: number;
  /** A series of as many buckets is asked for whole, before it is known how many points it has. */
  readonly buckets: number;
}
