import { setTimeout as delay } from 'node:timers/promises';
import { type FairScheduler, type Permit, QueueFull } from '@gatehouse/concurrency';
import { ApiError, analyticsUnavailable, type OrganizationId } from '@gatehouse/contract';
import {
  type Deadline,
  type Lines,
  queryLines,
  queryRows,
  startDeadline,
  type TelemetryQuery,
  TelemetryUnavailableError,
} from '@gatehouse/store';
import type { AnalyticsDependencies } from './dependencies.ts';

/** The request that a session belongs to. */
export interface Caller {
  readonly organizationId: OrganizationId;
  readonly requestId: string;
  /** Aborts when the caller leaves before it has its answer. */
  readonly gone: AbortSignal;
}

/**
 * The queries of one request. Each runs under a permit of the organisation, all of them until one deadline, and only as
 * long as the caller is there. Every failure of the store is the same 503 outside and one log line inside.
 */
export interface QuerySession {
  readonly gone: AbortSignal;
  rows<Row>(query: TelemetryQuery<Row>): Promise<Row[]>;
  /** The one row of a query without GROUP BY. No row means that the answer was lost: 503. */
  row<Row>(query: TelemetryQuery<Row>): Promise<Row>;
  /** The rows as JSON objects, one a line: as many as fit into `maxBytes`, and one at least. */
  lines(query: TelemetryQuery<unknown>, maxBytes?: number): Promise<Lines>;
  /**
   * Call it once a page of the answer is complete. The next page has a deadline of its own, and its queries are retried:
   * a restart of the store must not cost the caller what it has read so far. The first page is not retried, because
   * until then the caller can be answered 503.
   */
  nextPage(): void;
  /** Waits for a permit of another scheduler, for the organisation, as long as a query may take. */
  permit(scheduler: FairScheduler): Promise<Permit>;
}

const RETRY_AFTER_SECONDS = 2;

/** Opens a session. A deadline starts with the first query that needs it. */
export function openQuerySession(dependencies: AnalyticsDependencies, caller: Caller): QuerySession {
  const { telemetry, queries, log, metrics, timeoutMs } = dependencies;
  const { organizationId, requestId, gone } = caller;
  // Queries that run together have one deadline and fail together: the first failure is the one that is logged.
  let together: { readonly until: Deadline; readonly failed: AbortController } | undefined;
  const openTogether = () => {
    const failed = new AbortController();
    return { until: startDeadline(timeoutMs, gone, failed.signal), failed };
  };
  let retryDelaysMs: readonly number[] = [];

  const acquire = async (scheduler: FairScheduler, signal: AbortSignal): Promise<Permit> => {
    try {
      return await scheduler.acquire(organizationId, signal);
    } catch (error) {
      const isLate = error instanceof DOMException && error.name === 'TimeoutError';
      if (error instanceof QueueFull || isLate) {
        const fields = { event: 'analytics.query_rejected', request_id: requestId };
        const why = isLate ? 'no permit in time' : 'tenant queue full';
        metrics.analyticsQuery('rejected');
        log.info({ ...fields, organization_id: organizationId }, `analytics query rejected: ${why}`);
      } else if (error !== signal.reason) throw error;
      throw analyticsUnavailable(RETRY_AFTER_SECONDS);
    }
  };

  const attempt = async <T>(run: (until: Deadline) => Promise<T>): Promise<T> => {
    together ??= openTogether();
    const { until, failed } = together;
    using _ = await acquire(queries, until.signal);
    try {
      const answer = await run(until);
      metrics.analyticsQuery('answered');
      return answer;
    } catch (error) {
      if (!(error instanceof TelemetryUnavailableError)) throw error;
      if (!gone.aborted && !failed.signal.aborted) {
        metrics.analyticsQuery('failed');
        const fields = { event: 'analytics.query_failed', request_id: requestId, err: error };
        log.warn(fields, 'analytics query failed: telemetry store unavailable');
      }
      failed.abort(error);
      throw analyticsUnavailable();
    }
  };

  const withRetries = async <T>(run: (until: Deadline) => Promise<T>): Promise<T> => {
    for (const delayMs of retryDelaysMs) {
      try {
        return await attempt(run);
      } catch (error) {
        if (!(error instanceof ApiError) || gone.aborted) throw error;
        await delay(delayMs, undefined, { signal: gone });
        together = undefined;
      }
    }
    return attempt(run);
  };

  return {
    gone,
    rows: (query) => withRetries((until) => queryRows(telemetry, query, until)),
    row: (query) =>
      withRetries(async (until) => {
        const [row] = await queryRows(telemetry, query, until);
        if (row === undefined)
          throw new TelemetryUnavailableError('the telemetry store answered without a row');
        return row;
      }),
    lines: (query, maxBytes) => withRetries((until) => queryLines(telemetry, query, until, maxBytes)),
    nextPage() {
      retryDelaysMs = dependencies.retryDelaysMs;
      together = undefined;
    },
    permit: (scheduler) => acquire(scheduler, AbortSignal.any([AbortSignal.timeout(timeoutMs), gone])),
  };
}
