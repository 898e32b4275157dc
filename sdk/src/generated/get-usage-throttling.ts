// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';

/** The input of `getUsageThrottling`. */
export interface GetUsageThrottlingInput {
  /** Lookback window: digits and s, m, h or d; at most 3650d. `24h` unless given. */
  time_range?: string | undefined;
  project_id?: string | undefined;
  key_id?: string | undefined;
  model_alias?: string | undefined;
}

/** The reply of `getUsageThrottling`. */
export interface GetUsageThrottlingReply {
  readonly time_range: string;
  readonly keys: readonly {
    readonly key: {
      readonly id: string;
      readonly name: string | null;
    };
    readonly project: {
      readonly id: string;
      readonly name: string | null;
    } | null;
    /** The current limit; null for a deleted key. */
    readonly rate_limit_rpm: number | null;
    readonly requests: number;
    /** Requests that the key's rate limit rejected. A provider's 429 does not count. */
    readonly throttled: number;
    /** Requests in the busiest clock minute. */
    readonly peak_rpm: number;
    readonly last_throttled_at: string | null;
  }[];
}

/**
 * GET /admin/usage-throttling: The keys that made requests, with how many their own rate limit rejected;
 * most rejected first.
 */
export const getUsageThrottling = {
  name: 'getUsageThrottling',
  method: 'GET',
  path: '/admin/usage-throttling',
  query: ['time_range', 'project_id', 'key_id', 'model_alias'],
  headers: {},
  body: undefined,
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['time_range', 'keys'],
} as const satisfies Call;
