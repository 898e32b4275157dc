// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';

/** The input of `getKey`. */
export interface GetKeyInput {
  key_id: string;
}

/** The reply of `getKey`. */
export interface GetKeyReply {
  readonly id: string;
  readonly name: string;
  readonly project_id: string;
  /** `sk_svc_` and 8 characters; of an imported key up to 8, or `sha256_` and 8 digits of its hash. */
  readonly key_prefix: string;
  /** At least 1. */
  readonly rate_limit_rpm: number;
  /** ISO 8601 with a numeric offset. */
  readonly expires_at: string | null;
  /** Lifetime cap in micro-PKR; null: none. At least 1. */
  readonly credit_limit_cents: number | null;
  /** At least 1 entry. */
  readonly allowed_models: readonly string[] | null;
  readonly environment: 'production' | 'development' | 'testing';
  /** ISO 8601 with a numeric offset. */
  readonly created_at: string;
  /** ISO 8601 with a numeric offset. */
  readonly last_used_at: string | null;
  /** Null for a key that no member minted. */
  readonly created_by: {
    readonly id: string;
    readonly email: string;
  } | null;
  /** `sk_svc_` and 8 characters; of an imported key up to 8, or `sha256_` and 8 digits of its hash. */
  readonly previous_key_prefix: string | null;
  /** Until then the secret from before the last rotation is accepted too. */
  readonly previous_valid_until: string | null;
  /**
   * The time at which that secret was used last since the rotation, to ten seconds; null if it was not.
   * Left out where no such secret is accepted.
   */
  readonly previous_last_used_at?: string | null;
}

/**
 * GET /keys/{key_id}: One active key, with the member who minted it and the secret that it had before,
 * while that is accepted.
 */
export const getKey = {
  name: 'getKey',
  method: 'GET',
  path: '/keys/{key_id}',
  query: [],
  headers: {},
  body: undefined,
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['id', 'name', 'project_id', 'key_prefix', 'rate_limit_rpm', 'expires_at', 'credit_limit_cents', 'allowed_models', 'environment', 'created_at', 'last_used_at', 'created_by', 'previous_key_prefix', 'previous_valid_until'],
} as const satisfies Call;
