// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';

/** `listVaultKeys` takes no input. */
export type ListVaultKeysInput = { readonly [name: string]: never };

/** The reply of `listVaultKeys`. */
export interface ListVaultKeysReply {
  readonly keys: readonly {
    readonly provider: string;
    /** The last four characters; null for a key shorter than 12. 4 to 4 characters. */
    readonly key_hint: string | null;
    /** ISO 8601 with a numeric offset. */
    readonly created_at: string;
    /** ISO 8601 with a numeric offset. */
    readonly updated_at: string;
  }[];
}

/**
 * GET /vault/keys: The stored provider keys, by provider name. The keys themselves are never returned.
 */
export const listVaultKeys = {
  name: 'listVaultKeys',
  method: 'GET',
  path: '/vault/keys',
  query: [],
  headers: {},
  body: undefined,
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['keys'],
} as const satisfies Call;
