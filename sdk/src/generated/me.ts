// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';
import type { Account } from './schemas.ts';

/** `me` takes no input. */
export type MeInput = { readonly [name: string]: never };

/** The reply of `me`. */
export type MeReply = Account;

/** GET /auth/me: The account of the session. */
export const me = {
  name: 'me',
  method: 'GET',
  path: '/auth/me',
  query: [],
  headers: {},
  body: undefined,
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['user', 'organization'],
} as const satisfies Call;
