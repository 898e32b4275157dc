// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';

/** The input of `getBreakdown`. */
export interface GetBreakdownInput {
  /**
   * One of status, error_code, model, key, project, environment, member, termination_reason, or
   * metadata:NAME with a name of up to 64 characters. `model` unless given.
   */
  group_by?: string | undefined;
  /**
   * How many groups are listed; more than 100 is lowered to 100. All others together are in other. At
   * least 1; `20` unless given.
   */
  limit?: number | undefined;
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

/** The reply of `getBreakdown`. */
export interface GetBreakdownReply {
  /** Start of the window. */
  readonly from: string;
  /** End of the window, exclusive. */
  readonly to: string;
  readonly group_by: string;
  /** Everything that passes the filters. */
  readonly total: {
    readonly requests: number;
    /** Requests with an error_code. A caller that left early is not an error. */
    readonly errors: number;
    /** Tokens of every kind. */
    readonly tokens: number;
    /** Exact. In PKR. */
    readonly cost_pkr: number;
    /**
     * Time from the request to the end of its answer, in ms, within 0.2 %: half of them, and 95 of 100,
     * took no longer.
     */
    readonly total_ms: {
      readonly p50: number | null;
      readonly p95: number | null;
    };
    /**
     * Time to the first token, of the streams that had one; null if none had, in ms, within 0.2 %: half
     * of them, and 95 of 100, took no longer.
     */
    readonly ttft_ms: {
      readonly p50: number | null;
      readonly p95: number | null;
    };
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
    readonly requests: number;
    /** Requests with an error_code. A caller that left early is not an error. */
    readonly errors: number;
    /** Tokens of every kind. */
    readonly tokens: number;
    /** Exact. In PKR. */
    readonly cost_pkr: number;
    /**
     * Time from the request to the end of its answer, in ms, within 0.2 %: half of them, and 95 of 100,
     * took no longer.
     */
    readonly total_ms: {
      readonly p50: number | null;
      readonly p95: number | null;
    };
    /**
     * Time to the first token, of the streams that had one; null if none had, in ms, within 0.2 %: half
     * of them, and 95 of 100, took no longer.
     */
    readonly ttft_ms: {
      readonly p50: number | null;
      readonly p95: number | null;
    };
  }[];
  /** The groups beyond limit, together; null if there are none. */
  readonly other: {
    /** How many. */
    readonly groups: number;
    readonly requests: number;
    /** Requests with an error_code. A caller that left early is not an error. */
    readonly errors: number;
    /** Tokens of every kind. */
    readonly tokens: number;
    /** Exact. In PKR. */
    readonly cost_pkr: number;
    /**
     * Time from the request to the end of its answer, in ms, within 0.2 %: half of them, and 95 of 100,
     * took no longer.
     */
    readonly total_ms: {
      readonly p50: number | null;
      readonly p95: number | null;
    };
    /**
     * Time to the first token, of the streams that had one; null if none had, in ms, within 0.2 %: half
     * of them, and 95 of 100, took no longer.
     */
    readonly ttft_ms: {
      readonly p50: number | null;
      readonly p95: number | null;
    };
  } | null;
}

/**
 * GET /analytics/breakdown: Requests, errors, tokens, cost and quantiles of time, by one property of the
 * requests. The groups and other add up to total.
 */
export const getBreakdown = {
  name: 'getBreakdown',
  method: 'GET',
  path: '/analytics/breakdown',
  query: ['group_by', 'limit', 'time_range', 'from', 'to', 'project_id', 'key_id', 'model_alias', 'status_category', 'termination_reason', 'error_code', 'min_cost_pkr', 'search'],
  headers: {},
  body: undefined,
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['from', 'to', 'group_by', 'total', 'groups', 'other'],
} as const satisfies Call;
