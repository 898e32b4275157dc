// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';

/** The input of `getSummary`. */
export interface GetSummaryInput {
  /** Lookback window: digits and s, m, h or d; at most 3650d. `24h` unless given. */
  time_range?: string | undefined;
  project_id?: string | undefined;
  key_id?: string | undefined;
  model_alias?: string | undefined;
}

/** The reply of `getSummary`. */
export interface GetSummaryReply {
  readonly time_range: string;
  readonly total_requests: number;
  /** In milliseconds. */
  readonly avg_e2e_latency_ms: number | null;
  /** In milliseconds. */
  readonly avg_ttft_ms: number | null;
  readonly avg_tokens_per_sec: number | null;
  readonly total_token_usage: number;
  /** In PKR. */
  readonly total_cost_pkr?: number;
}

/** GET /analytics/summary: Requests, averages and tokens of a window; with key_id, the cost as well. */
export const getSummary = {
  name: 'getSummary',
  method: 'GET',
  path: '/analytics/summary',
  query: ['time_range', 'project_id', 'key_id', 'model_alias'],
  headers: {},
  body: undefined,
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['time_range', 'total_requests', 'avg_e2e_latency_ms', 'avg_ttft_ms', 'avg_tokens_per_sec', 'total_token_usage'],
} as const satisfies Call;
