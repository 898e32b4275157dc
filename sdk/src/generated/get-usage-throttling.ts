// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';
import type { KeyUsage } from './schemas.ts';

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
  readonly keys: readonly KeyUsage[];
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
