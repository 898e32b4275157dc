// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';

/** The input of `rotateKey`. */
export interface RotateKeyInput {
  key_id: string;
  /**
   * Any printable ASCII text. A second request of the organisation with the same value within 24 hours
   * creates no key and returns 409. 1 to 255 characters.
   */
  idempotency_key?: string | undefined;
  /**
   * How long the secret that is replaced goes on to be accepted; 0: not at all. 0 to 604800; `86400`
   * unless given.
   */
  grace_seconds?: number | undefined;
}

/** The reply of `rotateKey`. */
export interface RotateKeyReply {
  readonly id: string;
  /** `sk_svc_` and 8 characters; of an imported key up to 8, or `sha256_` and 8 digits of its hash. */
  readonly key_prefix: string;
  /** Matches `^sk_svc_[0-9A-Za-z]{32}$`. */
  readonly api_key: string;
  /** `sk_svc_` and 8 characters; of an imported key up to 8, or `sha256_` and 8 digits of its hash. */
  readonly previous_key_prefix: string;
  /** ISO 8601 with a numeric offset. */
  readonly previous_valid_until: string;
}

/**
 * POST /keys/{key_id}/rotate: Give a key a new secret, which only this reply contains. The one before is
 * accepted until its grace ends; the one before that ends at once.
 */
export const rotateKey = {
  name: 'rotateKey',
  method: 'POST',
  path: '/keys/{key_id}/rotate',
  query: [],
  headers: { idempotency_key: 'Idempotency-Key' },
  body: ['grace_seconds'],
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['id', 'key_prefix', 'api_key', 'previous_key_prefix', 'previous_valid_until'],
} as const satisfies Call;
