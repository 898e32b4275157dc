// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';
import type { Account } from './schemas.ts';

/** `refresh` takes no input. */
export type RefreshInput = { readonly [name: string]: never };

/** The reply of `refresh`. */
export type RefreshReply = Account;

/** POST /auth/refresh: Exchange the refresh cookie for a new access cookie. */
export const refresh = {
  name: 'refresh',
  method: 'POST',
  path: '/auth/refresh',
  query: [],
  headers: {},
  body: undefined,
  needsSession: false,
  setsCookies: true,
  exports: [],
  reply: ['user', 'organization'],
} as const satisfies Call;
