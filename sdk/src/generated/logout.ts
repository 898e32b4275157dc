// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';
import type { Message } from './schemas.ts';

/** `logout` takes no input. */
export type LogoutInput = { readonly [name: string]: never };

/** The reply of `logout`. */
export type LogoutReply = Message;

/** POST /auth/logout: End the session on the server and clear both cookies. */
export const logout = {
  name: 'logout',
  method: 'POST',
  path: '/auth/logout',
  query: [],
  headers: {},
  body: undefined,
  needsSession: false,
  setsCookies: true,
  exports: [],
  reply: ['message'],
} as const satisfies Call;
