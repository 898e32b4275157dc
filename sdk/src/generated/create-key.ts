// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';

/** The input of `createKey`. */
export interface CreateKeyInput {
  /**
   * Any printable ASCII text. A second request of the organisation with the same value within 24 hours
   * creates no key and returns 409. 1 to 255 characters.
   */
  idempotency_key?: string | undefined;
  project_id: string;
  /** One line; trimmed. 1 to 255 characters. */
  name: string;
  expires_at?: string | null | undefined;
  /** Lifetime cap in micro-PKR (1 PKR = 1,000,000). At least 1. */
  credit_limit_cents?: number | null | undefined;
  /** 1 to 256 entries. */
  allowed_models?: readonly string[] | null | undefined;
  /** `production` unless given. */
  environment?: 'production' | 'development' | 'testing' | undefined;
  /** Always rejected: use `credit_limit_cents` here. */
  credit_limit_pkr?: never | undefined;
}

/** The reply of `createKey`. */
export interface CreateKeyReply {
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
  readonly enforcement_status: {
    readonly expires_at: string;
    readonly credit_limit_cents: string;
    readonly allowed_models: string;
  };
  /** Matches `^sk_svc_[0-9A-Za-z]{32}$`. */
  readonly api_key: string;
}

/** POST /keys: Mint a gateway key. Only this reply contains its secret. */
export const createKey = {
  name: 'createKey',
  method: 'POST',
  path: '/keys',
  query: [],
  headers: { idempotency_key: 'Idempotency-Key' },
  body: ['project_id', 'name', 'expires_at', 'credit_limit_cents', 'allowed_models', 'environment', 'credit_limit_pkr'],
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['id', 'name', 'project_id', 'key_prefix', 'rate_limit_rpm', 'expires_at', 'credit_limit_cents', 'allowed_models', 'environment', 'enforcement_status', 'api_key'],
} as const satisfies Call;
