// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';

/** The input of `updateKey`. */
export interface UpdateKeyInput {
  key_id: string;
  /** Requests per minute. At least 1. */
  rate_limit_rpm: number;
  /** Lifetime cap in PKR, with at most 6 decimals; 0, null or absent: none. At least 0. */
  credit_limit_pkr?: number | null | undefined;
  /** Unix time in seconds; 0, null or absent: never. */
  expires_at?: number | null | undefined;
  /** Always rejected: use `credit_limit_pkr` here. */
  credit_limit_cents?: never | undefined;
}

/** The reply of `updateKey`. */
export interface UpdateKeyReply {
  readonly id: string;
  /** `sk_svc_` and 8 characters; of an imported key up to 8, or `sha256_` and 8 digits of its hash. */
  readonly key_prefix: string;
  /** At least 1. */
  readonly rate_limit_rpm: number;
  /** ISO 8601 with a numeric offset. */
  readonly expires_at: string | null;
  /** Lifetime cap in micro-PKR; null: none. At least 1. */
  readonly credit_limit_cents: number | null;
}

/**
 * PATCH /keys/{key_id}: Replace the rate limit, credit limit and expiry of a key. A credit limit or
 * expiry that is left out is removed. Nothing else of a key can be changed.
 */
export const updateKey = {
  name: 'updateKey',
  method: 'PATCH',
  path: '/keys/{key_id}',
  query: [],
  headers: {},
  body: ['rate_limit_rpm', 'credit_limit_pkr', 'expires_at', 'credit_limit_cents'],
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['id', 'key_prefix', 'rate_limit_rpm', 'expires_at', 'credit_limit_cents'],
} as const satisfies Call;
