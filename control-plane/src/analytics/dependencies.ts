import type { FairScheduler } from '@gatehouse/concurrency';
import type { Database, TelemetryClient } from '@gatehouse/store';
import type { Logger } from 'pino';
import type { ApiMetrics } from '../http/api-metrics.ts';
import type { DatabaseFor } from '../scheduling.ts';
import type { RequestRates } from './figures/request-rates.ts';

/** The dependencies of the endpoints of this section. */
export interface AnalyticsDependencies {
  /** For exports, of which an organisation has only a few at a time. */
  readonly database: Database;
  /** For statements before and after the queries, which run without a permit of the database. */
  readonly databaseFor: DatabaseFor;
  readonly telemetry: TelemetryClient;
  readonly log: Logger;
  /** How long the queries of a request, or of one page of a long answer, may take together. */
  readonly timeoutMs: number;
  /** The end of every window, in microseconds since the epoch. */
  readonly nowMicros: () => bigint;
  /** Permits for queries of the telemetry store. */
  readonly queries: FairScheduler;
  /** Permits for answers of several pages. A slow reader of one kind does not delay the other. */
  readonly longSeries: FairScheduler;
  readonly exports: FairScheduler;
  readonly pages: PageSizes;
  /** The delay before each retry of a query, once the first page of an answer is sent. */
  readonly retryDelaysMs: readonly number[];
  readonly rates: RequestRates;
  /** The highest rate of any key. */
  readonly rateLimitCeilingRpm: number;
  readonly metrics: Pick<ApiMetrics, 'analyticsQuery'>;
}

/** How much of a long answer is read, and held in memory, at a time. */
export interface PageSizes {
  /** Points of a series. */
  readonly points: number;
  /** Rows of the request log, and their bytes at most. */
  readonly rows: number;
  readonly bytes: number;
  /** A series of up to this many buckets is read whole, before its number of points is known. */
  readonly buckets: number;
}
