// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';

/** The input of `revokeVaultKey`. */
export interface RevokeVaultKeyInput {
  provider: string;
}

/** The reply of `revokeVaultKey`. */
export interface RevokeVaultKeyReply {
  readonly message: string;
}

/**
 * DELETE /vault/keys/{provider}: Remove the stored key for a provider. The gateway stops using it from
 * the next request.
 */
export const revokeVaultKey = {
  name: 'revokeVaultKey',
  method: 'DELETE',
  path: '/vault/keys/{provider}',
  query: [],
  headers: {},
  body: undefined,
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['message'],
} as const satisfies Call;
