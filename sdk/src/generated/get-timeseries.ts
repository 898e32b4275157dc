// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';
import type { TimeseriesPoint } from './schemas.ts';

/** The input of `getTimeseries`. */
export interface GetTimeseriesInput {
  /**
   * volume: requests; latency and ttft: means in ms; tok_s: tokens generated a second; token_usage:
   * tokens of every kind. `volume` unless given.
   */
  metric?: 'volume' | 'latency' | 'ttft' | 'tok_s' | 'token_usage' | undefined;
  /**
   * Bucket width: digits and s, m, h or d. Buckets are aligned to 1970-01-01T00:00:00. `1h` unless given.
   */
  interval?: string | undefined;
  /** `model` unless given. */
  group_by?: 'project' | 'key' | 'model' | undefined;
  /** Lookback window: digits and s, m, h or d; at most 3650d. `24h` unless given. */
  time_range?: string | undefined;
  project_id?: string | undefined;
  key_id?: string | undefined;
  model_alias?: string | undefined;
}

/** The reply of `getTimeseries`. */
export interface GetTimeseriesReply {
  readonly metric: 'volume' | 'latency' | 'ttft' | 'tok_s' | 'token_usage';
  readonly interval: string;
  readonly group_by: 'project' | 'key' | 'model';
  readonly time_range: string;
  readonly data: readonly TimeseriesPoint[];
}

/**
 * GET /analytics/timeseries: A metric over time: one value per bucket and group, ordered by bucket, then
 * group. Empty buckets are left out.
 */
export const getTimeseries = {
  name: 'getTimeseries',
  method: 'GET',
  path: '/analytics/timeseries',
  query: ['metric', 'interval', 'group_by', 'time_range', 'project_id', 'key_id', 'model_alias'],
  headers: {},
  body: undefined,
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['metric', 'interval', 'group_by', 'time_range', 'data'],
} as const satisfies Call;
