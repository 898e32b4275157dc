// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';
import type { VaultKey } from './schemas.ts';

/** The input of `setVaultKey`. */
export interface SetVaultKeyInput {
  /** A provider in the catalogue that takes a key. */
  provider: string;
  /** The provider’s own key. Printable ASCII; trimmed. 1 to 4096 characters. */
  api_key: string;
}

/** The reply of `setVaultKey`. */
export type SetVaultKeyReply = VaultKey;

/** POST /vault/keys: Store or replace the organisation’s own key for a provider. */
export const setVaultKey = {
  name: 'setVaultKey',
  method: 'POST',
  path: '/vault/keys',
  query: [],
  headers: {},
  body: ['provider', 'api_key'],
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['provider', 'key_hint', 'created_at', 'updated_at'],
} as const satisfies Call;
