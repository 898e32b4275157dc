// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';
import type { RequestLogEntry } from './schemas.ts';

/** The input of `listRequests`. */
export interface ListRequestsInput {
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
  model?: string | undefined;
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
  /** Rows in the page; more than 200 is lowered to 200. At least 1; `50` unless given. */
  limit?: number | undefined;
  /** Rows to skip before the page. 0 to 9007199254740991; `0` unless given. */
  offset?: number | undefined;
}

/** The reply of `listRequests`. */
export interface ListRequestsReply {
  /** Matching rows. */
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
  readonly requests: readonly RequestLogEntry[];
}

/**
 * GET /analytics/requests: The request log, newest first: one row per request, or per group of rejected
 * requests. CSV and NDJSON return all rows.
 */
export const listRequests = {
  name: 'listRequests',
  method: 'GET',
  path: '/analytics/requests',
  query: ['time_range', 'from', 'to', 'project_id', 'key_id', 'model', 'status_category', 'termination_reason', 'error_code', 'min_cost_pkr', 'search', 'limit', 'offset'],
  headers: {},
  body: undefined,
  needsSession: true,
  setsCookies: false,
  exports: ['application/x-ndjson', 'text/csv'],
  reply: ['total', 'limit', 'offset', 'requests'],
} as const satisfies Call;
