// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';
import type { RequestAttempt } from './schemas.ts';

/** The input of `showRequest`. */
export interface ShowRequestInput {
  req_id: string;
}

/** The reply of `showRequest`. */
export interface ShowRequestReply {
  readonly req_id: string;
  readonly timestamp: string;
  readonly model: string;
  readonly status: number;
  readonly stream: boolean;
  readonly key: {
    readonly id: string;
    readonly name: string | null;
  } | null;
  readonly project: {
    readonly id: string;
    readonly name: string | null;
  } | null;
  readonly metrics: {
    /** In milliseconds. */
    readonly total_ms: number;
    /** In milliseconds. */
    readonly ttft_ms: number | null;
    /** In milliseconds. */
    readonly tpot_ms: number | null;
    /** In milliseconds. */
    readonly pre_dispatch_ms: number;
    readonly prompt_tokens: number | null;
    readonly tokens_generated: number;
    readonly cache_creation_input_tokens: number | null;
    readonly cache_read_input_tokens: number | null;
    readonly total_tokens: number;
    readonly tokens_estimated: boolean;
  };
  readonly financials: {
    /** In PKR. */
    readonly cost_pkr: number;
    readonly is_byok: 0 | 1;
  };
  readonly status_detail: {
    readonly termination_reason: 'success' | 'proxy_guillotine' | 'client_disconnect' | 'upstream_stream_aborted';
    readonly upstream_error: string | null;
  };
  readonly upstream: {
    readonly model: string;
  } | null;
  readonly user_agent: string;
  readonly metadata: { readonly [name: string]: string };
  /**
   * How many similar rejected requests of the key this row stands for; only present above 1. At least 2.
   */
  readonly request_count?: number;
  /** In the order of time; empty if the request was not sent to a provider. */
  readonly attempts: readonly RequestAttempt[];
}

/** GET /analytics/requests/{req_id}: One row of the request log, with what was tried at providers. */
export const showRequest = {
  name: 'showRequest',
  method: 'GET',
  path: '/analytics/requests/{req_id}',
  query: [],
  headers: {},
  body: undefined,
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['req_id', 'timestamp', 'model', 'status', 'stream', 'key', 'project', 'metrics', 'financials', 'status_detail', 'upstream', 'user_agent', 'metadata', 'attempts'],
} as const satisfies Call;
