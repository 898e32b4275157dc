// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';
import type { VaultKey } from './schemas.ts';

/** `listVaultKeys` takes no input. */
export type ListVaultKeysInput = { readonly [name: string]: never };

/** The reply of `listVaultKeys`. */
export interface ListVaultKeysReply {
  readonly keys: readonly VaultKey[];
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
