// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';
import type { RequestSession } from './schemas.ts';

/** The input of `listSessions`. */
export interface ListSessionsInput {
  /** The name of the metadata, in any case; at most 64 characters. */
  metadata: string;
  /** Part of the value; case-insensitive. */
  search?: string | undefined;
  /** The most first. `last_request` unless given. */
  sort?: 'last_request' | 'requests' | 'cost' | 'duration' | undefined;
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
  /** Requests with the keys that the member minted. */
  member_id?: string | undefined;
  model_alias?: string | undefined;
  /** Rows in the page; more than 200 is lowered to 200. At least 1; `50` unless given. */
  limit?: number | undefined;
  /** Rows to skip before the page. 0 to 9007199254740991; `0` unless given. */
  offset?: number | undefined;
}

/** The reply of `listSessions`. */
export interface ListSessionsReply {
  /** Start of the window. */
  readonly from: string;
  /** End of the window, exclusive. */
  readonly to: string;
  /** In lower case. */
  readonly metadata: string;
  /** All values that match. */
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
  readonly sessions: readonly RequestSession[];
}

/**
 * GET /analytics/sessions: Requests grouped by the values of their metadata under one name, such as the
 * session of a coding agent. Requests without one are left out.
 */
export const listSessions = {
  name: 'listSessions',
  method: 'GET',
  path: '/analytics/sessions',
  query: ['metadata', 'search', 'sort', 'time_range', 'from', 'to', 'project_id', 'key_id', 'member_id', 'model_alias', 'limit', 'offset'],
  headers: {},
  body: undefined,
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['from', 'to', 'metadata', 'total', 'limit', 'offset', 'sessions'],
} as const satisfies Call;
