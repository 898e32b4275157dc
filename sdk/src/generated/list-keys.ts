// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';
import type { Key } from './schemas.ts';

/** `listKeys` takes no input. */
export type ListKeysInput = { readonly [name: string]: never };

/** The reply of `listKeys`. */
export interface ListKeysReply {
  readonly keys: readonly Key[];
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
