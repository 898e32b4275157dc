// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';

/** `listKeys` takes no input. */
export type ListKeysInput = { readonly [name: string]: never };

/** The reply of `listKeys`. */
export interface ListKeysReply {
  readonly keys: readonly {
    readonly id: string;
    readonly name: string;
    readonly project_id: string;
    /** Matches `^sk_svc_[0-9A-Za-z]{8}$`. */
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
  }[];
}

/** GET /keys: The active keys, newest first. Revoked keys are not listed. */
export const listKeys = {
  name: 'listKeys',
  method: 'GET',
  path: '/keys',
  query: [],
  headers: {},
  body: undefined,
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['keys'],
} as const satisfies Call;
