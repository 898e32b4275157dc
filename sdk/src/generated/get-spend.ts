// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';

/** The input of `getSpend`. */
export interface GetSpendInput {
  /** `model` unless given. */
  group_by?: 'model' | 'key' | 'project' | 'member' | undefined;
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
   * How many groups are listed; more than 100 is lowered to 100. All others together are in other. At
   * least 1; `10` unless given.
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

/** The reply of `getSpend`. */
export interface GetSpendReply {
  /** Start of the window. */
  readonly from: string;
  /** End of the window, exclusive. */
  readonly to: string;
  readonly interval: string;
  /** As given, or UTC. */
  readonly time_zone: string;
  readonly group_by: 'model' | 'key' | 'project' | 'member';
  /**
   * The start of each bucket, in the time zone. Buckets without cost are listed too. The window cuts the
   * first and the last.
   */
  readonly buckets: readonly string[];
  /** Everything that passes the filters. */
  readonly total: {
    /** The cost over the window; the sum of costs_pkr. In PKR. */
    readonly cost_pkr: number;
    /** The cost of each bucket, in the order of buckets. In PKR. */
    readonly costs_pkr: readonly number[];
  };
  /** The most expensive first. */
  readonly groups: readonly {
    /**
     * The route id, or the id of the key, project or member. Null where it is unknown: no known key or
     * project, a key that no member minted, or rejected before the model was read.
     */
    readonly group: string | null;
    /**
     * The current name of the key or project, or the e-mail of the member; null if it has none. Of a
     * model, its id.
     */
    readonly name: string | null;
    /** The cost over the window; the sum of costs_pkr. In PKR. */
    readonly cost_pkr: number;
    /** The cost of each bucket, in the order of buckets. In PKR. */
    readonly costs_pkr: readonly number[];
  }[];
  /** The groups beyond limit, together; null if there are none. */
  readonly other: {
    /** How many. */
    readonly groups: number;
    /** The cost over the window; the sum of costs_pkr. In PKR. */
    readonly cost_pkr: number;
    /** The cost of each bucket, in the order of buckets. In PKR. */
    readonly costs_pkr: readonly number[];
  } | null;
}

/**
 * GET /analytics/spend: Cost over time by model, key, project or member, exact to the micro-PKR. The
 * groups and other add up to total, in every bucket. Groups without cost are left out.
 */
export const getSpend = {
  name: 'getSpend',
  method: 'GET',
  path: '/analytics/spend',
  query: ['group_by', 'interval', 'time_zone', 'limit', 'time_range', 'from', 'to', 'project_id', 'key_id', 'model_alias', 'status_category', 'termination_reason', 'error_code', 'min_cost_pkr', 'search'],
  headers: {},
  body: undefined,
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['from', 'to', 'interval', 'time_zone', 'group_by', 'buckets', 'total', 'groups', 'other'],
} as const satisfies Call;
