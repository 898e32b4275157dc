// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';
import type { TrendBuckets } from './schemas.ts';

/** The input of `getTrend`. */
export interface GetTrendInput {
  /**
   * Bucket width: digits and s, m, h or d; at most 2500 buckets. Buckets are aligned to
   * 1970-01-01T00:00:00. `1h` unless given.
   */
  interval?: string | undefined;
  /**
   * An IANA time zone, or an offset such as +05:00 (%2B05:00 in a URL). Buckets are written in it, and
   * intervals of whole days begin when its days do. Default: UTC.
   */
  time_zone?: string | undefined;
  /**
   * Names from requests, rows, errors, tokens, cost_pkr, avg_total_ms, avg_ttft_ms, tokens_per_sec,
   * total_ms, ttft_ms, separated by commas. Others are left out. Default: all. The quantiles total_ms and
   * ttft_ms take the longest.
   */
  figures?: string | undefined;
  /**
   * One of status, error_code, model, key, project, environment, member, termination_reason, or
   * metadata:NAME with a name of up to 64 characters. Default: no groups.
   */
  group_by?: string | undefined;
  /**
   * How many groups are listed, at most 100. All others together are in other. Buckets times series
   * (groups, other, total) are at most 50000, and 5000 with quantiles. At least 1; `10` unless given.
   */
  limit?: number | undefined;
  /** True to add the figures of the window before. `true` unless given. */
  previous?: 'true' | 'false' | undefined;
  /**
   * Lookback window: digits and s, m, h or d; at most 3650d. Default: 24h. Not together with from and to.
   */
  time_range?: string | undefined;
  /** Start of the window, instead of time_range. RFC 3339 with an offset. In a URL, write + as %2B. */
  from?: string | undefined;
  /**
   * End of the window, exclusive. Default: now. Only with from, and at most 3650 days after it. RFC 3339
   * with an offset. In a URL, write + as %2B.
   */
  to?: string | undefined;
  project_id?: string | undefined;
  key_id?: string | undefined;
  model_alias?: string | undefined;
  /** One of 2xx, 3xx, 4xx, 5xx. */
  status_category?: string | undefined;
  /**
   * One of success, proxy_guillotine, client_disconnect, upstream_stream_aborted; any other matches
   * nothing.
   */
  termination_reason?: string | undefined;
  /** An error_code of the breakdown, or any for every request that has one. */
  error_code?: string | undefined;
  /** Requests that cost at least this. At least 0. In PKR. */
  min_cost_pkr?: number | undefined;
  /** Part of the request id or of the metadata; case-insensitive. */
  search?: string | undefined;
}

/** The reply of `getTrend`. */
export interface GetTrendReply {
  /** Start of the window. */
  readonly from: string;
  /** End of the window, exclusive. */
  readonly to: string;
  readonly interval: string;
  /** As given, or UTC. */
  readonly time_zone: string;
  readonly group_by: string | null;
  /** The figures in the reply. */
  readonly figures: readonly ('requests' | 'rows' | 'errors' | 'tokens' | 'cost_pkr' | 'avg_total_ms' | 'avg_ttft_ms' | 'tokens_per_sec' | 'total_ms' | 'ttft_ms')[];
  /**
   * The start of each bucket, in the time zone. Empty buckets are listed too. The window cuts the first
   * and the last.
   */
  readonly buckets: readonly string[];
  /** Everything that passes the filters. */
  readonly total: {
    readonly requests?: number;
    /** Rows of the request log; a row may stand for several requests. */
    readonly rows?: number;
    /** Requests with an error_code. A caller that left early is not an error. */
    readonly errors?: number;
    /** Tokens of every kind. */
    readonly tokens?: number;
    /** Exact. In PKR. */
    readonly cost_pkr?: number;
    /**
     * The mean time from the request to the end of its answer; null without requests. In milliseconds.
     */
    readonly avg_total_ms?: number | null;
    /**
     * The mean time to the first token, of the streams that had one; null if none had. In milliseconds.
     */
    readonly avg_ttft_ms?: number | null;
    /** Tokens generated, divided by the time spent generating them. */
    readonly tokens_per_sec?: number | null;
    /**
     * Time from the request to the end of its answer, in ms, within 0.2 %: half of them, and 95 of 100,
     * took no longer.
     */
    readonly total_ms?: {
      readonly p50: number | null;
      readonly p95: number | null;
    };
    /**
     * Time to the first token, of the streams that had one; null if none had, in ms, within 0.2 %: half
     * of them, and 95 of 100, took no longer.
     */
    readonly ttft_ms?: {
      readonly p50: number | null;
      readonly p95: number | null;
    };
    /** The same figures of each bucket, in the order of buckets. */
    readonly per_bucket: TrendBuckets;
  };
  /** The one with the most requests first. */
  readonly groups: readonly {
    /**
     * The value, or the id of the key, project or member who minted the key. Null for requests that have
     * none: no error, no known key, no such member, no metadata under that name.
     */
    readonly group: string | null;
    /**
     * The current name of the key or project, or the e-mail of the member; null if it has none. Else the
     * same as group.
     */
    readonly name: string | null;
    readonly requests?: number;
    /** Rows of the request log; a row may stand for several requests. */
    readonly rows?: number;
    /** Requests with an error_code. A caller that left early is not an error. */
    readonly errors?: number;
    /** Tokens of every kind. */
    readonly tokens?: number;
    /** Exact. In PKR. */
    readonly cost_pkr?: number;
    /**
     * The mean time from the request to the end of its answer; null without requests. In milliseconds.
     */
    readonly avg_total_ms?: number | null;
    /**
     * The mean time to the first token, of the streams that had one; null if none had. In milliseconds.
     */
    readonly avg_ttft_ms?: number | null;
    /** Tokens generated, divided by the time spent generating them. */
    readonly tokens_per_sec?: number | null;
    /**
     * Time from the request to the end of its answer, in ms, within 0.2 %: half of them, and 95 of 100,
     * took no longer.
     */
    readonly total_ms?: {
      readonly p50: number | null;
      readonly p95: number | null;
    };
    /**
     * Time to the first token, of the streams that had one; null if none had, in ms, within 0.2 %: half
     * of them, and 95 of 100, took no longer.
     */
    readonly ttft_ms?: {
      readonly p50: number | null;
      readonly p95: number | null;
    };
    /** The same figures of each bucket, in the order of buckets. */
    readonly per_bucket: TrendBuckets;
  }[];
  /** The groups beyond limit, together; null if there are none. */
  readonly other: {
    /** How many. */
    readonly groups: number;
    readonly requests?: number;
    /** Rows of the request log; a row may stand for several requests. */
    readonly rows?: number;
    /** Requests with an error_code. A caller that left early is not an error. */
    readonly errors?: number;
    /** Tokens of every kind. */
    readonly tokens?: number;
    /** Exact. In PKR. */
    readonly cost_pkr?: number;
    /**
     * The mean time from the request to the end of its answer; null without requests. In milliseconds.
     */
    readonly avg_total_ms?: number | null;
    /**
     * The mean time to the first token, of the streams that had one; null if none had. In milliseconds.
     */
    readonly avg_ttft_ms?: number | null;
    /** Tokens generated, divided by the time spent generating them. */
    readonly tokens_per_sec?: number | null;
    /**
     * Time from the request to the end of its answer, in ms, within 0.2 %: half of them, and 95 of 100,
     * took no longer.
     */
    readonly total_ms?: {
      readonly p50: number | null;
      readonly p95: number | null;
    };
    /**
     * Time to the first token, of the streams that had one; null if none had, in ms, within 0.2 %: half
     * of them, and 95 of 100, took no longer.
     */
    readonly ttft_ms?: {
      readonly p50: number | null;
      readonly p95: number | null;
    };
    /** The same figures of each bucket, in the order of buckets. */
    readonly per_bucket: TrendBuckets;
  } | null;
  /**
   * The same figures of the window of equal length that ends where this one begins. Null if not wanted,
   * or if it would begin before 1970.
   */
  readonly previous: {
    /** Start of the window. */
    readonly from: string;
    /** End of the window, exclusive. */
    readonly to: string;
    readonly requests?: number;
    /** Rows of the request log; a row may stand for several requests. */
    readonly rows?: number;
    /** Requests with an error_code. A caller that left early is not an error. */
    readonly errors?: number;
    /** Tokens of every kind. */
    readonly tokens?: number;
    /** Exact. In PKR. */
    readonly cost_pkr?: number;
    /**
     * The mean time from the request to the end of its answer; null without requests. In milliseconds.
     */
    readonly avg_total_ms?: number | null;
    /**
     * The mean time to the first token, of the streams that had one; null if none had. In milliseconds.
     */
    readonly avg_ttft_ms?: number | null;
    /** Tokens generated, divided by the time spent generating them. */
    readonly tokens_per_sec?: number | null;
    /**
     * Time from the request to the end of its answer, in ms, within 0.2 %: half of them, and 95 of 100,
     * took no longer.
     */
    readonly total_ms?: {
      readonly p50: number | null;
      readonly p95: number | null;
    };
    /**
     * Time to the first token, of the streams that had one; null if none had, in ms, within 0.2 %: half
     * of them, and 95 of 100, took no longer.
     */
    readonly ttft_ms?: {
      readonly p50: number | null;
      readonly p95: number | null;
    };
  } | null;
}

/**
 * GET /analytics/trend: Figures over time, in total and by one property of the requests, with those of
 * the window before. The groups and other add up to total, in every bucket.
 */
export const getTrend = {
  name: 'getTrend',
  method: 'GET',
  path: '/analytics/trend',
  query: ['interval', 'time_zone', 'figures', 'group_by', 'limit', 'previous', 'time_range', 'from', 'to', 'project_id', 'key_id', 'model_alias', 'status_category', 'termination_reason', 'error_code', 'min_cost_pkr', 'search'],
  headers: {},
  body: undefined,
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['from', 'to', 'interval', 'time_zone', 'group_by', 'figures', 'buckets', 'total', 'groups', 'other', 'previous'],
} as const satisfies Call;
