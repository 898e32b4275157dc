// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';

/** The input of `revokeKey`. */
export interface RevokeKeyInput {
  key_id: string;
}

/** The reply of `revokeKey`. */
export interface RevokeKeyReply {
  readonly message: string;
}

/** DELETE /keys/{key_id}: Revoke a key. The gateway rejects it from the next request. */
export const revokeKey = {
  name: 'revokeKey',
  method: 'DELETE',
  path: '/keys/{key_id}',
  query: [],
  headers: {},
  body: undefined,
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['message'],
} as const satisfies Call;
